/**
 * Returns the name of the browser's database in which the playground keeps a person's conversations.
 * @param user the person's id
 */
export function createDatabaseName(user: string): string {
  return `rtr-conversations-${user}`;
}

/** Deletes the playground's conversations of a person who signs out, because the next person may use the same browser. */
export function deleteConversations(user: string): void {
  indexedDB.deleteDatabase(createDatabaseName(user));
}
