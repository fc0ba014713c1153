/** Thrown when the dependencies cannot be installed. The message is written for the user. */
export class InstallError extends Error {}
