export const personArgument = ['<user>', 'email address or id of the person'] as const;
