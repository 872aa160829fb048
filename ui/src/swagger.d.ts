declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  type Options = {
    url: string;
    dom_id: string;
    deepLinking: boolean;
    docExpansion: "none";
    defaultModelsExpandDepth: number;
    validatorUrl: string | null;
  };
  const SwaggerUI: (options: Options) => void;
  export default SwaggerUI;
}
