/** Returns a message of a conversation, in the formats that have a role and a content. */
export function said<const Role extends string, Content>(
  role: Role,
  content: Content,
): { role: Role; content: Content } {
  return { role, content };
}

export function textBlock(text: string): { type: 'text'; text: string } {
  return { type: 'text', text };
}
