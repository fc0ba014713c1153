import type { ContentBlock } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { fieldPath } from '../field-path.ts';
import { failedOutput, type Tool, type ToolContext, type ToolOutput } from '../tool.ts';

// One import is all that a tool's file needs.
export { z };

/** What `run` may return: plain text, or blocks of content with the same as data. */
export type ToolReturn =
  | string
  | { content: ContentBlock[]; structuredContent?: JsonObject | undefined; isError?: boolean | undefined };

/** A tool as its file writes it. */
export interface ToolDefinition<Input extends z.ZodObject> {
  /** Letters, digits, `_` and `-`, 64 at most. */
  name: string;
  /** For the language model that chooses among tools. */
  description: string;
  input: Input;
  /** Does the work. What it throws becomes an answer that says that the tool failed, and why. */
  run: (input: z.output<Input>, context: ToolContext) => ToolReturn | Promise<ToolReturn>;
}

/** A tool written in TypeScript. Made by `defineTool`. */
export class OwnTool implements Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly run: Tool['run'];

  constructor(facts: Omit<Tool, 'run'>, run: Tool['run']) {
    this.name = facts.name;
    this.description = facts.description;
    this.inputSchema = facts.inputSchema;
    this.run = run;
  }
}

/**
 * Makes a tool of a schema and a function:
 *
 * ```ts
 * import { defineTool, z } from 'model-router/tool';
 *
 * export const tool = defineTool({
 *   name: 'greet',
 *   description: 'Greets somebody by name.',
 *   input: z.object({ name: z.string() }),
 *   run: ({ name }) => `Hello, ${name}!`,
 * });
 * ```
 *
 * @throws Error when the name is not a plain one, or JSON Schema has no words for the input's schema
 */
export function defineTool<Input extends z.ZodObject>(definition: ToolDefinition<Input>): OwnTool {
  const { name, description, input: schema, run } = definition;
  if (!/^[\w-]{1,64}$/.test(name)) throw new Error(`'${name}' is no name for a tool: letters, digits, _ and - only`);
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' });
  // What describes JSON in JSON Schema is JSON itself.
  return new OwnTool({ name, description, inputSchema: inputSchema as JsonObject }, async (input, context) => {
    const parsed = schema.safeParse(input);
    if (!parsed.success) throw refusedInput(parsed.error);
    try {
      return outputOf(await run(parsed.data, context));
    } catch (error) {
      if (context.signal.aborted) throw context.signal.reason;
      return failedOutput(error instanceof Error ? error.message : String(error));
    }
  });
}

function outputOf(returned: ToolReturn): ToolOutput {
  if (typeof returned === 'string') return { content: [{ type: 'text', text: returned }], isError: false };
  const { content, structuredContent, isError = false } = returned;
  if (!Array.isArray(content) || (structuredContent !== undefined && !isJsonObject(structuredContent))) {
    throw new TypeError('The tool returned neither text nor content.');
  }
  return { content, structuredContent, isError };
}

/** What JSON Schema could not say of the input, its zod schema may still refuse. */
function refusedInput({ issues }: z.ZodError): RouterError {
  const param = fieldPath(issues[0]?.path ?? []);
  return new RouterError('invalid_request', `Invalid value for '${param}': ${issues[0]?.message ?? 'invalid'}.`, {
    param,
  });
}
