/** The environment variables of the person's shell, such as folders and the display. The client has no variables of its own. */
export const environment = process.env;
