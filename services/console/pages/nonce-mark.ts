/** What stands in the built page where each answer gets a nonce of its own for its styles. */
export const nonceMark = '__STYLE_NONCE__';
