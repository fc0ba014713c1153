import { createItemsDialogue } from '../items-dialogue.ts';
import { readGeminiRequest } from './gemini-request.ts';

/** The dialogue with Gemini CLI, which reads turns with the parts of Google's API. It sends on PDFs, but not the schema of an answer. */
export const geminiDialogue = createItemsDialogue(readGeminiRequest, { takesFiles: true, takesSchemas: false });
