/**
 * The name of the browser's database in which the playground keeps a person's conversations. It is deleted at sign-out.
 * @param user the person's id
 */
export function conversationsOf(user: string): string {
  return `rtr-conversations-${user}`;
}
