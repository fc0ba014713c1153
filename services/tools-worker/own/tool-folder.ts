import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/core/log.ts';
import type { ToolSource } from '../name-tools.ts';
import { OwnTool } from './define-tool.ts';
import { scanFolder, type ToolFile } from './scan-folder.ts';
import { hookToolModules, versionedUrl } from './tool-module-hook.ts';

/** Milliseconds between two looks. Looking works where being told of changes does not: network disks, containers' mounts. */
const lookMs = 500;

/** Milliseconds that a file may take to load: one that waits for ever at its top level must not stop the others. */
const loadMs = 10_000;

interface Loaded {
  version: string;
  /** The last version that could be loaded. */
  tool: OwnTool | undefined;
}

/**
 * The tools in a folder, one in each file, loaded again when their files change. A file that cannot be loaded keeps its
 * last good tool and says why in the log. They run in this process: a folder of tools is trusted like the router itself.
 */
export class ToolFolder implements ToolSource {
  readonly prefix = undefined;
  readonly available = true;
  readonly #folder: string;
  readonly #log: Logger;
  readonly #loaded = new Map<string, Loaded>();
  readonly #closing = new AbortController();
  readonly #unhook: () => void;
  #looking: Promise<void> | undefined;
  #lastFailure = '';

  constructor(folder: string, log: Logger) {
    this.#folder = resolve(folder);
    this.#log = log;
    this.#unhook = hookToolModules(`${pathToFileURL(this.#folder).href}/`);
  }

  get tools(): readonly OwnTool[] {
    return [...this.#loaded.values()].flatMap(({ tool }) => tool ?? []);
  }

  /** Loads the tools, and goes on looking for changes. @param onChange called when the tools are others than before */
  async start(onChange: () => void): Promise<void> {
    await this.#look();
    this.#looking = this.#keepLooking(onChange);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#looking;
    this.#unhook();
  }

  async #keepLooking(onChange: () => void): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(lookMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted && (await this.#look())) onChange();
    }
  }

  /** @returns whether tools came, went or changed */
  async #look(): Promise<boolean> {
    const files = await this.#scan();
    if (!files) return false;
    let changed = false;
    for (const name of this.#gone(files)) {
      this.#loaded.delete(name);
      changed = true;
    }
    for (const file of files) {
      const known = this.#loaded.get(file.name);
      if (known?.version === file.version) continue;
      const tool = await this.#load(file);
      this.#loaded.set(file.name, { version: file.version, tool: tool ?? known?.tool });
      changed ||= tool !== undefined;
    }
    return changed;
  }

  #gone(files: readonly ToolFile[]): string[] {
    const names = new Set(files.map(({ name }) => name));
    return [...this.#loaded.keys()].filter((name) => !names.has(name));
  }

  /** A folder that cannot be read keeps its tools; it is told once for each reason. */
  async #scan(): Promise<ToolFile[] | undefined> {
    try {
      const files = await scanFolder(this.#folder);
      this.#lastFailure = '';
      return files;
    } catch (error) {
      const failure = String(error);
      if (failure !== this.#lastFailure) {
        this.#log.error({ err: error, folder: this.#folder }, 'the folder of tools cannot be read');
      }
      this.#lastFailure = failure;
      return undefined;
    }
  }

  async #load({ name, path, version }: ToolFile): Promise<OwnTool | undefined> {
    const time = new AbortController();
    try {
      const late = sleep(loadMs, undefined, { signal: time.signal }).then(() => {
        throw new Error(`it was not loaded within ${loadMs / 1000} seconds`);
      });
      const loading = import(versionedUrl(pathToFileURL(path).href, version)) as Promise<{ tool?: unknown }>;
      const { tool } = await Promise.race([loading, late]);
      if (!(tool instanceof OwnTool)) throw new Error('it does not export a `tool` made with defineTool');
      this.#log.info({ file: name, tool: tool.name }, 'tool loaded');
      return tool;
    } catch (error) {
      const kept = this.#loaded.get(name)?.tool?.name;
      this.#log.error({ err: error, file: name, kept }, 'a tool could not be loaded');
      return undefined;
    } finally {
      time.abort();
    }
  }
}
