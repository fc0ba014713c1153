import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, type RunningCommand } from '../processes/run-command.ts';

/** The programs of a system on which nothing of this project is installed. */
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Stands in for a machine: a network namespace with one address, an empty home, and only the system's programs. */
export interface Machine {
  /** IPv4 address at which the other machines reach it. */
  address: string;
  home: string;
  /** Starts a program on the machine, in its home. */
  run(command: string, args?: readonly string[], environment?: Record<string, string>): RunningCommand;
  /** Lets a shell run a line that a person would paste. */
  paste(line: string, environment?: Record<string, string>): RunningCommand;
}

export interface Network {
  machines: Machine[];
  close(): void;
}

/**
 * Creates machines on a network of their own, which reach each other and, through this machine, package registries. The network
 * needs root, `ip` and `iptables` (tag `networks`).
 * @param count number of machines, at most 9
 */
export function openNetwork(count: number): Network {
  const id = process.pid % 100_000;
  const subnet = `10.${100 + (id % 100)}.${Math.floor(id / 100) % 250}`;
  const bridge = `rtrb${id}`;
  const closers: (() => void)[] = [];
  const close = (): void => {
    for (const undo of closers.splice(0).reverse()) undo();
  };
  const apply = (program: string, args: readonly string[], undoArgs?: readonly string[]): void => {
    execFileSync(program, args, { stdio: 'pipe' });
    if (undoArgs) closers.push(() => execFileSync(program, undoArgs, { stdio: 'pipe' }));
  };
  const rule = (args: readonly string[], table: readonly string[] = []): void =>
    apply('iptables', ['-w', ...table, '-I', ...args], ['-w', ...table, '-D', ...args]);
  try {
    apply('ip', ['link', 'add', bridge, 'type', 'bridge'], ['link', 'del', bridge]);
    apply('ip', ['addr', 'add', `${subnet}.1/24`, 'dev', bridge]);
    apply('ip', ['link', 'set', bridge, 'up']);
    apply('sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
    rule(['POSTROUTING', '-s', `${subnet}.0/24`, '!', '-d', `${subnet}.0/24`, '-j', 'MASQUERADE'], ['-t', 'nat']);
    rule(['FORWARD', '-s', `${subnet}.0/24`, '-j', 'ACCEPT']);
    rule(['FORWARD', '-d', `${subnet}.0/24`, '-j', 'ACCEPT']);
    const machines = Array.from({ length: count }, (_, index): Machine => {
      const [name, cable] = [`rtr-machine-${id}-${index}`, `rtrv${id}x${index}`];
      const address = `${subnet}.${index + 2}`;
      apply('ip', ['netns', 'add', name], ['netns', 'del', name]);
      apply('ip', ['link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name]);
      apply('ip', ['link', 'set', cable, 'master', bridge, 'up']);
      for (const args of [
        ['addr', 'add', `${address}/24`, 'dev', 'eth0'],
        ['link', 'set', 'eth0', 'up'],
        ['link', 'set', 'lo', 'up'],
        ['route', 'add', 'default', 'via', `${subnet}.1`],
      ])
        apply('ip', ['-n', name, ...args]);
      const home = mkdtempSync(join(tmpdir(), 'rtr-machine-'));
      closers.push(() => rmSync(home, { recursive: true, force: true }));
      const run: Machine['run'] = (command, args = [], environment = {}) => {
        const variables = Object.entries({ HOME: home, PATH: systemPath, LANG: 'C.UTF-8', ...environment });
        const all = ['netns', 'exec', name, 'env', '-i', ...variables.map((pair) => pair.join('=')), command, ...args];
        return runCommand('ip', all, { cwd: home, isGroup: true });
      };
      return { address, home, run, paste: (line, environment) => run('/bin/sh', ['-c', line], environment) };
    });
    return { machines, close };
  } catch (error) {
    close();
    throw error;
  }
}
