import { report } from './report.ts';
import { docker, runCommand } from './run-command.ts';

export interface ComposeOptions {
  /** The prefix of its containers, networks and volumes. */
  name: string;
  /** Port of the load balancer on this machine. */
  port: number;
  profiles?: readonly string[];
  /** The Compose file; docker-compose.yml by default. */
  file?: string;
  /** Additional Compose files. */
  files?: readonly string[];
  /** Values of variables in the Compose files. */
  env?: Record<string, string>;
}

/** One cluster of docker-compose.yml, apart from all others on this machine. */
export class ComposeProject {
  readonly name: string;
  readonly url: string;
  readonly #words: readonly string[];
  readonly #env: Record<string, string>;
  /** The network that the engine could not remove. */
  #stuck: string | undefined;

  constructor({ name, port, profiles = [], file = 'docker-compose.yml', files = [], env = {} }: ComposeOptions) {
    this.name = name;
    this.url = `http://127.0.0.1:${port}`;
    this.#words = [
      'compose',
      '-p',
      name,
      '--progress',
      'quiet',
      ...[file, ...files].flatMap((each) => ['-f', each]),
      ...profiles.flatMap((profile) => ['--profile', profile]),
    ];
    this.#env = { RTR_PORT: String(port), ...env };
  }

  run(...args: readonly string[]): Promise<string> {
    return runCommand('docker', [...this.#words, ...args], { env: this.#env, timeoutMs: 240_000 });
  }

  /** Starts everything that is not running, and waits until it is healthy. */
  async up(...args: readonly string[]): Promise<void> {
    await this.run('up', '--detach', '--wait', '--no-build', ...args);
  }

  /**
   * Stops and removes everything, including volumes. The engine sometimes keeps the endpoint of a removed container, and then cannot remove
   * its network either: such a network is reported and left.
   */
  async down(): Promise<void> {
    const args = ['--profile', '*', 'down', '--volumes', '--remove-orphans', '--timeout', '5'];
    try {
      await this.run(...args);
    } catch (error) {
      this.#stuck = /network (\S+) id \w+ has active endpoints/.exec(String(error))?.[1];
      if (this.#stuck === undefined || (await this.#containersIn(this.#stuck)) !== '{}') throw error;
      report(`the engine keeps ${this.#stuck}, which has no container`);
    }
  }

  /** A network's containers, as a JSON object. */
  async #containersIn(network: string): Promise<string> {
    return (await docker('network', 'inspect', '--format', '{{json .Containers}}', network)).trim();
  }

  /** Ids of a service's running containers. */
  async containers(service: string): Promise<string[]> {
    return (await this.run('ps', '--quiet', service)).split('\n').filter((id) => id !== '');
  }

  /** Id of a service's first running container. */
  async container(service: string): Promise<string> {
    const [id] = await this.containers(service);
    if (id === undefined) throw new Error(`no container of ${service} runs`);
    return id;
  }

  logs(service: string): Promise<string> {
    return this.run('logs', '--no-log-prefix', service);
  }

  /** The first router key, as `setup` printed it. */
  async key(): Promise<string> {
    const key = /rtr_\w+_\w+/.exec(await this.logs('setup'))?.[0];
    if (key === undefined) throw new Error('setup has shown no key');
    return key;
  }

  /** Returns the address of a container in a network of the project; reachable from this machine. */
  async address(container: string, network: string): Promise<string> {
    const template = `{{(index .NetworkSettings.Networks "${this.name}_${network}").IPAddress}}`;
    return (await docker('inspect', '--format', template, container)).trim();
  }

  /** Names of its existing containers, networks and volumes. */
  async leftovers(): Promise<string[]> {
    const ours = ['--filter', `label=com.docker.compose.project=${this.name}`, '--format'];
    const [containers, networks, volumes] = await Promise.all([
      docker('ps', '--all', ...ours, '{{.Names}}'),
      docker('network', 'ls', ...ours, '{{.Name}}'),
      docker('volume', 'ls', ...ours, '{{.Name}}'),
    ]);
    return `${containers}${networks}${volumes}`.split('\n').filter((name) => name !== '' && name !== this.#stuck);
  }
}
