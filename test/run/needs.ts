import { spawnSync } from 'node:child_process';
import { chartTools } from '../helpers/deploy/chart-tools.ts';
import { cliNames, findCli } from '../helpers/clis/install-clis.ts';
import { chromiumPath } from '../helpers/console/open-browser.ts';
import { dockerAnswers } from '../helpers/servers/docker-answers.ts';
import { findLlamaServer } from '../helpers/upstreams/start-llama-server.ts';
import { hasCommit, previousRelease } from '../helpers/releases/build-release.ts';
import { hasKeyring } from '../helpers/clients/start-keyring.ts';
import { hasPrometheus } from '../helpers/deploy/start-prometheus.ts';

export interface Need {
  /** The tag of the tests that need it. */
  name: string;
  isMet: boolean;
  /** How a machine gets it. */
  how: string;
}

/** Returns the needs that this machine meets now. Tests with the tag of an unmet need are skipped, and counted at the end of the run. */
export async function findNeeds(): Promise<Need[]> {
  return [
    { name: 'linux', isMet: process.platform === 'linux', how: 'they look into /proc' },
    { name: 'openssl', isMet: runs('openssl', 'version'), how: 'install openssl' },
    { name: 'systemd', isMet: runs('systemd-analyze', '--version'), how: 'install systemd; it need not run' },
    { name: 'haproxy', isMet: runs('haproxy', '-v'), how: 'install haproxy' },
    { name: 'zsh', isMet: runs('zsh', '--version'), how: 'install zsh' },
    { name: 'fish', isMet: runs('fish', '--version'), how: 'install fish' },
    { name: 'networks', isMet: canMakeNetworks(), how: 'run as root on Linux, with ip' },
    { name: 'history', isMet: hasCommit(previousRelease), how: 'clone the repository with its history' },
    { name: 'docker', isMet: await dockerAnswers(), how: 'start a Docker engine' },
    { name: 'chromium', isMet: chromiumPath !== undefined, how: 'test/helpers/deploy/get-chromium.sh' },
    { name: 'prometheus', isMet: hasPrometheus, how: 'test/helpers/deploy/get-prometheus.sh' },
    { name: 'keyring', isMet: hasKeyring, how: 'test/helpers/clients/get-keyring.sh' },
    { name: 'llama-server', isMet: findLlamaServer() !== undefined, how: 'test/helpers/upstreams/get-llama-server.sh' },
    { name: 'chart-tools', isMet: chartTools !== undefined, how: 'test/helpers/deploy/get-kubernetes-tools.sh' },
    ...cliNames.map((name) => ({ name, isMet: findCli(name) !== undefined, how: 'an npm registry' })),
  ];
}

function runs(...[program = '', ...args]: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

function canMakeNetworks(): boolean {
  const name = `rtr-test-try-${process.pid}`;
  return (
    process.getuid?.() === 0 &&
    runs('ip', 'netns', 'add', name) &&
    runs('ip', 'netns', 'del', name) &&
    runs('iptables', '--version')
  );
}
