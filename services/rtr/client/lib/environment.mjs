/** The variables of the person's shell: where their folders are, and what can be opened. The client has no settings of its own there. */
export const environment = process.env;
