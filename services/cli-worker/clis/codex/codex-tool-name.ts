import { createDistinctToolName } from '#shared/translate/responses/flat-tool-name.ts';

/** Names that Codex accepts for a client's tools. */
const acceptedName = /^[\w-]{1,128}$/;

/** Names that Codex uses itself: the prefix of MCP servers' tools, and the tool of Codex that cannot be switched off. */
const reservedName = /^(?:mcp|mcp__.*|request_user_input)$/;

/**
 * Returns the name under which Codex offers a client's tool to its model: the client's name, or a replacement that is the same in every
 * request.
 */
export function toCodexToolName(name: string): string {
  if (acceptedName.test(name) && !reservedName.test(name)) return name;
  return createDistinctToolName(`client_${name.replaceAll(/[^\w-]/g, '_')}`, name, undefined);
}
