import type { ClientProgram } from './client-program.ts';

/** How the instructions of its summaries begin. */
const compactionWords = 'You are a context summarization agent';

/** How the instructions of its titles begin. */
const titleWords = 'You are a title generator';

/**
 * opencode. As observed in release 1.18.33, a session of an agent names its parent in `x-parent-session-id`, and the title of a
 * session and the summary of a long one are requests without tools, with instructions of their own.
 */
export const opencode: ClientProgram = {
  isSender: ({ 'user-agent': agent }) => agent?.startsWith('opencode/') === true,
  purposeOf(headers, signs) {
    if (signs && !signs.hasOwnTools && signs.instructions.startsWith(compactionWords)) return 'compaction';
    if (signs && !signs.hasOwnTools && signs.instructions.startsWith(titleWords)) return 'auxiliary';
    return headers['x-parent-session-id'] === undefined ? 'main' : 'subagent';
  },
};
