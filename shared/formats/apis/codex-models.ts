import type { JsonObject } from '#shared/core/json.ts';
import type { ModelCard } from '../client-api.ts';

/**
 * The agent instructions in the description of a model. Codex has built-in instructions for its own models, but none for a model that a
 * server describes.
 */
const baseInstructions = `You are a coding agent. You work in the user's terminal through Codex, on the files of the working directory.

- Find out before you change: read the files that matter, and search with \`rg\` where it is installed.
- Do what was asked, all of it and no more. Keep to the style of the code around your change.
- Change files with \`apply_patch\`. Run commands with the tool for commands, and read what they print.
- Check your work: run the tests or the program where there are any. Say so when you could not.
- Follow AGENTS.md files: one counts for its folder and all below it, a deeper one wins, and the user's words win over both.
- Never undo changes that you did not make, and never run a command that destroys work unless the user asked for it.
- Before longer work, say in one sentence what you will do. At the end, say briefly what you changed and what the user should know.
- Go on until the task is done. Ask only when you cannot find out what you need.`;

const reasoningLevels = [
  { effort: 'low', description: 'Answers soon' },
  { effort: 'medium', description: 'Thinks where it helps' },
  { effort: 'high', description: 'Thinks most' },
];

/** Bytes of a tool's output that Codex keeps in the conversation. */
const outputBytes = 10_000;

/**
 * Describes models as Codex reads them, including their context windows. Codex rejects a list if one of these fields is missing (read from
 * codex 0.169, which requests the list with `client_version` in the query).
 */
export function describeCodexModels(cards: readonly ModelCard[]): JsonObject[] {
  return cards.map(({ id, contextWindow }, position) => ({
    slug: id,
    display_name: id,
    description: null,
    supported_reasoning_levels: reasoningLevels,
    shell_type: 'shell_command',
    visibility: 'list',
    supported_in_api: true,
    priority: position,
    base_instructions: baseInstructions,
    supports_reasoning_summaries: true,
    support_verbosity: false,
    apply_patch_tool_type: 'freeform',
    truncation_policy: { mode: 'bytes', limit: outputBytes },
    supports_parallel_tool_calls: true,
    context_window: contextWindow ?? null,
    experimental_supported_tools: [],
  }));
}
