/** The variables of the person's shell: where their folders are, and what can be opened. None of them is a setting of the client. */
export const environment = process.env;
