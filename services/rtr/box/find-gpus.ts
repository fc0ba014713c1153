import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Environment } from '#shared/core/load-config.ts';

const timeoutMs = 5_000;

/**
 * Finds the GPUs of this machine with the programs of their drivers, if these are on the PATH.
 * @returns a description of each GPU, such as `NVIDIA GeForce RTX 4090, 24 GiB`
 */
export async function findGpus(environment: Environment): Promise<string[]> {
  const run = async (program: string, ...args: string[]): Promise<string> => {
    try {
      const { stdout } = await promisify(execFile)(program, args, { env: environment, timeout: timeoutMs });
      return stdout;
    } catch {
      // The program is missing, or its driver does not answer: no GPU can be used.
      return '';
    }
  };
  const [nvidia, amd] = await Promise.all([
    run('nvidia-smi', '--query-gpu=name,memory.total', '--format=csv,noheader,nounits'),
    run('rocm-smi', '--showproductname', '--showmeminfo', 'vram', '--json'),
  ]);
  return [...parseNvidia(nvidia), ...parseAmd(amd)];
}

/** Parses lines such as `NVIDIA GeForce RTX 4090, 24564`, with the memory in MiB. */
function parseNvidia(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const match = /^(?<name>.+), (?<mebibytes>\d+|\[N\/A\])\s*$/.exec(line)?.groups;
    return match?.['name'] === undefined ? [] : [describeGpu(match['name'], Number(match['mebibytes']))];
  });
}

/** Parses an object with one entry per card, such as `{"card0": {"Card Series": "…", "VRAM Total Memory (B)": "17163091968"}}`. */
function parseAmd(text: string): string[] {
  let cards: Record<string, Record<string, string>>;
  try {
    cards = JSON.parse(text) as typeof cards;
  } catch {
    return [];
  }
  return Object.entries(cards)
    .filter(([name]) => name.startsWith('card'))
    .map(([, facts]) => {
      const name = facts['Card Series'] ?? facts['Card series'] ?? 'AMD GPU';
      return describeGpu(name, Number(facts['VRAM Total Memory (B)']) / 2 ** 20);
    });
}

function describeGpu(name: string, mebibytes: number): string {
  return Number.isNaN(mebibytes) ? name : `${name}, ${Math.round(mebibytes / 1024)} GiB`;
}
