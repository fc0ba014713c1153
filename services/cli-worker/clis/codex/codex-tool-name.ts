import { distinctToolName } from '#shared/translate/responses/flat-tool-name.ts';

/** The names that Codex takes for a client's tools. */
const taken = /^[\w-]{1,128}$/;

/** Names of its own: prefixes of MCP servers' tools, and the one tool that cannot be switched off. */
const reserved = /^(?:mcp|mcp__.*|request_user_input)$/;

/** The name under which Codex offers a client's tool to its model: the client's, or one that stands for it in every request. */
export function codexToolName(name: string): string {
  if (taken.test(name) && !reserved.test(name)) return name;
  return distinctToolName(`client_${name.replaceAll(/[^\w-]/g, '_')}`, name, undefined);
}
