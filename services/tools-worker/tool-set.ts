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

/** Maximum bytes of the descriptions and schemas of all tools together, because one announcement contains them all. */
const maxAllBytes = 512 * 1024;

export class ToolSet {
  readonly #sources: readonly ToolSource[];
  readonly #log: Logger;
  readonly #checkOfTool = new WeakMap<Tool, InputCheck>();
  #toolByName = new Map<string, NamedTool>();
  /** Tools whose name differs from the name that their server has for them, by the server's name. */
  #toolByGivenName = new Map<string, NamedTool>();
  readonly #fixedInfos: readonly ToolInfo[];
  #infos: ToolInfo[] = [];

  /**
   * @param sources sources of the tools, in order of precedence for names
   * @param fixed further entries to announce, which cannot be called by name
   */
  constructor(sources: readonly ToolSource[], log: Logger, fixed: readonly ToolInfo[] = []) {
    this.#sources = sources;
    this.#log = log;
    this.#fixedInfos = fixed;
    this.refresh();
  }

  /** The entries that the worker announces. The same array until an entry changes. */
  get infos(): ToolInfo[] {
    return this.#infos;
  }

  /**
   * Reads the sources again.
   * @returns whether `infos` has changed
   */
  refresh(): boolean {
    const { toolsByName, dropped } = nameTools(this.#sources);
    this.#toolByName = toolsByName;
    this.#toolByGivenName = new Map(
      [...toolsByName.values()].flatMap((each) => (each.givenName === undefined ? [] : [[each.givenName, each]])),
    );
    const infos: ToolInfo[] = [...this.#fixedInfos];
    const tooLarge: string[] = [];
    let bytesLeft = maxAllBytes;
    for (const { content, server, available } of this.#sources) {
      if (!content || !available || content.passes.length === 0) continue;
      const { name, description, inputSchema } = content;
      toolsByName.set(name, { name, givenName: undefined, tool: content, server, available });
      infos.push({
        name,
        description,
        inputSchema,
        ...(server !== undefined && { server }),
        passes: [...content.passes],
      });
    }
    for (const namedTool of toolsByName.values()) {
      const { name } = namedTool;
      if (namedTool.tool instanceof ServerContent) continue;
      if (!namedTool.available) continue;
      const info = toInfo(namedTool);
      // A tool that is too large may fit without its output schema, which calls do not need.
      const { outputSchema: _, ...withoutOutput } = info;
      const fittingInfo = [info, withoutOutput].find((each) => countBytes(each) <= Math.min(maxToolBytes, bytesLeft));
      if (!fittingInfo) {
        tooLarge.push(name);
        continue;
      }
      bytesLeft -= countBytes(fittingInfo);
      infos.push(fittingInfo);
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
    const namedTool = this.#toolByName.get(name) ?? this.#toolByGivenName.get(name);
    if (!namedTool?.available)
      throw new RouterError('upstream_failed', `The tool '${name}' is not available right now.`);
    return namedTool.tool;
  }

  /**
   * Returns the check of a tool's input. If the schema is not valid, the check accepts every input, because the tool then checks the input
   * itself.
   */
  findCheck(tool: Tool): InputCheck {
    const knownCheck = this.#checkOfTool.get(tool);
    if (knownCheck) return knownCheck;
    const acceptAll: InputCheck = () => Promise.resolve();
    const acceptIfInvalidSchema = (error: unknown): void => {
      if (!(error instanceof InvalidSchemaError)) throw error;
      this.#log.warn({ tool: tool.name, err: error }, 'the schema of a tool is not valid, so its input is not checked');
      this.#checkOfTool.set(tool, acceptAll);
    };
    try {
      const check = compileInputCheck(tool.inputSchema);
      this.#checkOfTool.set(tool, (input, bytes, owner) => check(input, bytes, owner).catch(acceptIfInvalidSchema));
    } catch (error) {
      acceptIfInvalidSchema(error);
    }
    return this.#checkOfTool.get(tool) ?? acceptAll;
  }
}

function toInfo({ name, givenName, tool, server }: NamedTool): ToolInfo {
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

function countBytes(info: ToolInfo): number {
  return Buffer.byteLength(JSON.stringify(info));
}
