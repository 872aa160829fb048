import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// All pages lie at one depth (`…/ui/<page>`), so relative addresses work below any path.
export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    outDir: "../src/whence/ui_files",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: ["index.html", "docs.html"] },
    chunkSizeWarningLimit: 1500,
  },
  worker: { format: "es" },
});
