// Texts of sign-in and of roles.

export const session = {
  title: "Sign in to Whence",
  expired: "Your session has ended. Sign in again and you are back where you were.",
  with: (provider: string) => `Sign in with ${provider}`,
  or: "or",
  key: "API key",
  keyHint: "whence_…",
  byKey: "Sign in with a key",
  signingIn: "Signing in…",
  getKey: "An administrator makes one under API keys, or at the terminal:",
  command: "whence keys create NAME --role reader",
  insecure: "This address is not https, so the browser keeps no session for it. Open Whence by https, or on localhost.",
  noCookie: "The key is right, but the browser kept no session. Open Whence by https, or on localhost.",
  again: "Try again",
  out: "Sign out",
  accountOf: "Account of ",
  open: "No sign-in required",
  openWhy: "Everybody at this machine may do everything.",
  noRole: "no role yet",
  somewhere: "in some namespaces",
  kinds: { key: "API key", user: "Person", open: "This machine" } as Record<string, string>,
  noRoleTitle: "You have no role yet",
  noRoleWhy:
    "You are signed in, but cannot see anything. Ask an administrator of Whence for a role: under Administration, Roles, or with this command:",
  grant: (name: string) => `whence access grant ${name} --role reader --namespaces 'postgres://warehouse*'`,
  noRoleThen: "Reload this page when you have one.",
};

export const roles = {
  reader: "Reader",
  writer: "Writer",
  steward: "Steward",
  admin: "Administrator",
} as Record<string, string>;
