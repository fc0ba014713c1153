import type { ToolInfo } from '#shared/broker/contract/announcement.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { InvalidSchemaError } from '#shared/worker/schemas/schema-check.ts';
import { compileInputCheck, type InputCheck } from './check-input.ts';
import { nameTools, type NamedTool, type ToolSource } from './name-tools.ts';
import { ServerContent } from './mcp/server-content.ts';
import type { Tool } from './tool.ts';

/** Maximum bytes of one tool's description and schema. */
const maxToolBytes = 64 * 1024;

/** Maximum bytes of the descriptions and schemas of all tools together, which are sent in one announcement. */
const maxAllBytes = 512 * 1024;

export class ToolSet {
  readonly #sources: readonly ToolSource[];
  readonly #log: Logger;
  readonly #checks = new WeakMap<Tool, InputCheck>();
  #named = new Map<string, NamedTool>();
  /** Tools whose server has another name for them, by that name. */
  #byGivenName = new Map<string, NamedTool>();
  readonly #fixed: readonly ToolInfo[];
  #infos: ToolInfo[] = [];

  /**
   * @param sources sources of the tools, in order of precedence for names
   * @param fixed further entries to announce, which are no tools that can be called by name
   */
  constructor(sources: readonly ToolSource[], log: Logger, fixed: readonly ToolInfo[] = []) {
    this.#sources = sources;
    this.#log = log;
    this.#fixed = fixed;
    this.refresh();
  }

  /** Returns the entries that the worker announces. It is the same array until they change. */
  get infos(): ToolInfo[] {
    return this.#infos;
  }

  /**
   * Reads the sources again.
   * @returns whether `infos` has changed
   */
  refresh(): boolean {
    const { named, dropped } = nameTools(this.#sources);
    this.#named = named;
    this.#byGivenName = new Map(
      [...named.values()].flatMap((each) => (each.givenName === undefined ? [] : [[each.givenName, each]])),
    );
    const infos: ToolInfo[] = [...this.#fixed];
    const tooLarge: string[] = [];
    let left = maxAllBytes;
    for (const { content, server, available } of this.#sources) {
      if (!content || !available || content.passes.length === 0) continue;
      const { name, description, inputSchema } = content;
      named.set(name, { name, givenName: undefined, tool: content, server, available });
      infos.push({
        name,
        description,
        inputSchema,
        ...(server !== undefined && { server }),
        passes: [...content.passes],
      });
    }
    for (const each of named.values()) {
      const { name } = each;
      if (each.tool instanceof ServerContent) continue;
      if (!each.available) continue;
      const info = infoOf(each);
      // A tool that is too large may fit without its output schema, and can be used without it.
      const { outputSchema: _, ...withoutOutput } = info;
      const fitting = [info, withoutOutput].find((each) => bytesOf(each) <= Math.min(maxToolBytes, left));
      if (!fitting) {
        tooLarge.push(name);
        continue;
      }
      left -= bytesOf(fitting);
      infos.push(fitting);
    }
    if (JSON.stringify(infos) === JSON.stringify(this.#infos)) return false;
    this.#infos = infos;
    if (dropped.length > 0) this.#log.warn({ tools: dropped }, 'tools left out: their names are taken');
    if (tooLarge.length > 0) this.#log.warn({ tools: tooLarge }, 'tools left out: their descriptions are too large');
    this.#log.info({ tools: infos.map(({ name }) => name) }, 'tools changed');
    return true;
  }

  /**
   * Finds a tool to run by its name, or by the name that its server has for it.
   * @throws RouterError `upstream_failed` if the tool was removed or became unavailable after the worker claimed the job
   */
  get(name: string): Tool {
    const named = this.#named.get(name) ?? this.#byGivenName.get(name);
    if (!named?.available) throw new RouterError('upstream_failed', `The tool '${name}' is not available right now.`);
    return named.tool;
  }

  /**
   * Returns the check of a tool's input. If the schema cannot be compiled, the check accepts everything, because the tool then checks the
   * input itself.
   */
  checkOf(tool: Tool): InputCheck {
    const known = this.#checks.get(tool);
    if (known) return known;
    const passing: InputCheck = () => Promise.resolve();
    const pass = (error: unknown): void => {
      if (!(error instanceof InvalidSchemaError)) throw error;
      this.#log.warn({ tool: tool.name, err: error }, 'the schema of a tool is not valid, so its input is not checked');
      this.#checks.set(tool, passing);
    };
    try {
      const check = compileInputCheck(tool.inputSchema);
      this.#checks.set(tool, (input, bytes) => check(input, bytes).catch(pass));
    } catch (error) {
      pass(error);
    }
    return this.#checks.get(tool) ?? passing;
  }
}

function infoOf({ name, givenName, tool, server }: NamedTool): ToolInfo {
  const { title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    ...(givenName !== undefined && { givenName }),
    ...(title !== undefined && { title }),
    description,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
    ...(server !== undefined && { server }),
  };
}

function bytesOf(info: ToolInfo): number {
  return Buffer.byteLength(JSON.stringify(info));
}
