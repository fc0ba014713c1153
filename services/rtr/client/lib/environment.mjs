/** The variables of the person's shell, such as their folders and their display. None of them is a setting of the client. */
export const environment = process.env;
