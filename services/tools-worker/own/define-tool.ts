import type { ContentBlock } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { createFailedOutput, formatInputPath, type Tool, type ToolContext, type ToolOutput } from '../tool.ts';

// `z` is re-exported, so that a tool's file needs only one import.
export { z };

/** The result of `run`: plain text, or content blocks with the same result as data. */
export type ToolReturn =
  | string
  | { content: ContentBlock[]; structuredContent?: JsonObject | undefined; isError?: boolean | undefined };

export interface ToolDefinition<Input extends z.ZodObject> {
  /** Name of at most 64 letters, digits, `_` and `-`. */
  name: string;
  /** Description for the model that chooses among tools. */
  description: string;
  input: Input;
  /** Runs the tool. An error that it throws becomes an output with `isError`. */
  run: (input: z.output<Input>, context: ToolContext) => ToolReturn | Promise<ToolReturn>;
}

/** A tool made with `defineTool`. */
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
 * Creates a tool from a schema and a function:
 *
 * ```ts
 * import { defineTool, z } from 'model-router/tool';
 *
 * export const tool = defineTool({
 *   name: 'greet',
 *   description: 'Greets a person by name.',
 *   input: z.object({ name: z.string() }),
 *   run: ({ name }) => `Hello, ${name}!`,
 * });
 * ```
 *
 * @throws Error if the name is not valid, or if JSON Schema cannot express the input's schema
 */
export function defineTool<Input extends z.ZodObject>(definition: ToolDefinition<Input>): OwnTool {
  const { name, description, input: schema, run } = definition;
  if (!/^[\w-]{1,64}$/.test(name))
    throw new Error(`'${name}' is not a valid name of a tool: letters, digits, _ and - only`);
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' });
  // A JSON Schema is JSON.
  return new OwnTool({ name, description, inputSchema: inputSchema as JsonObject }, async (input, context) => {
    const parsed = schema.safeParse(input);
    if (!parsed.success) throw createInputError(parsed.error);
    try {
      return toOutput(await run(parsed.data, context));
    } catch (error) {
      if (context.signal.aborted) throw context.signal.reason;
      return createFailedOutput(error instanceof Error ? error.message : String(error));
    }
  });
}

function toOutput(returned: ToolReturn): ToolOutput {
  if (typeof returned === 'string') return { content: [{ type: 'text', text: returned }], isError: false };
  const { content, structuredContent, isError = false } = returned;
  if (!Array.isArray(content) || (structuredContent !== undefined && !isJsonObject(structuredContent))) {
    throw new TypeError('The tool returned neither text nor content.');
  }
  return { content, structuredContent, isError };
}

/** Creates the error for an input that breaks a rule of its zod schema that JSON Schema cannot express. */
function createInputError({ issues }: z.ZodError): RouterError {
  const param = formatInputPath(issues[0]?.path ?? []);
  return new RouterError('invalid_request', `Invalid value for '${param}': ${issues[0]?.message ?? 'invalid'}.`, {
    param,
  });
}
