import { createItemsDialogue } from '../items-dialogue.ts';
import { readCodexRequest } from './codex-request.ts';

/** The dialogue with Codex, which reads items of the Responses format. */
export const codexDialogue = createItemsDialogue(readCodexRequest);
