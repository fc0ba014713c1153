/** The argument with which commands name a person. */
export const personArgument = ['<user>', 'email address or id of the person'] as const;
