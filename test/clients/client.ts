import type { CliName } from '../helpers/clis/install-clis.ts';

/** A program that people use with the router, unmodified, with a base URL and a key alone. */
export interface Client {
  /** Its name, as its makers write it, with the language of a library. */
  name: string;
  /** Where it comes from, with the exact version of each package; the first package gives the version that is reported. */
  from: { registry: 'npm' | 'PyPI'; packages: Readonly<Record<string, string>> };
  /** Its name where workers drive it, too: both use one installation. */
  cli?: CliName;
  /** The client formats that it can be told to speak, by the names of the formats. */
  formats: readonly string[];
  /** What it is asked to do, in its own empty folder. */
  task: (folder: string) => Task;
  /** How it is started. */
  start: (turn: Turn) => Command;
}

/** One turn of a client. */
export interface Task {
  /** What was done, as the table of the documentation says it. */
  what: 'tool turn' | 'tool call' | 'file edit';
  prompt: string;
  /** Files that are in the folder before, by name. */
  files?: Readonly<Record<string, string>>;
  /** The call that the engine makes. */
  call?: { name: string; arguments: Readonly<Record<string, unknown>> };
  /** Text of the tool's result, which must reach the engine with the call. */
  result?: string;
  /** What the engine says at the end, or undefined where the call ends the turn. */
  says?: string;
  /** What the client must have printed. */
  prints: string;
  /** What a file must contain afterwards. */
  leaves?: { file: string; text: string };
}

/** What a client is started with. */
export interface Turn {
  /** Name of the client format. */
  format: string;
  model: string;
  /** The task's prompt with the lines of its script. */
  prompt: string;
  /** Address of the router, as `http://127.0.0.1:1234`. */
  url: string;
  /** A router key. */
  key: string;
  /** Where its packages are installed. */
  installed: string;
  /** Its own folder: working directory and home. */
  folder: string;
}

/** A command, with what its environment has besides `PATH`, `HOME` and the addresses and keys that SDKs read. */
export interface Command {
  file: string;
  args: readonly string[];
  /** What it reads from its standard input; nothing if unset. */
  input?: string;
  env?: Readonly<Record<string, string>>;
  /** Files that are written into the folder before, such as a configuration. */
  files?: Readonly<Record<string, string>>;
}
