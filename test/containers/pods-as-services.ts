import { join } from 'node:path';
import type { Container, PodSpec, Rendered } from '../helpers/deploy/kubernetes-objects.ts';
import { chooses } from '../helpers/deploy/network-policies.ts';

/** What the pods mount, on this machine. */
export interface MountSources {
  /** Folder with a folder per Secret or ConfigMap, which has a file per key. */
  folder: string;
  /** Namespace of the release, for the names of its Services. */
  namespace: string;
}

/**
 * Services of a Compose file with the properties of pods that containers have too: command, environment, mounted files, user,
 * read-only root, capabilities, memory, the Services' names and the readiness probe. Jobs and single pods are in the profile
 * `hooks`, under their names.
 */
export function podsAsServices(objects: readonly Rendered[], sources: MountSources): Record<string, object> {
  const services = objects.filter(({ kind }) => kind === 'Service');
  return Object.fromEntries(
    objects.flatMap(({ kind, metadata, spec }) => {
      const pod = kind === 'Pod' ? { metadata, spec } : spec?.template;
      const [main] = pod?.spec.containers ?? [];
      if (!pod || !main) return [];
      const isHook = kind !== 'Deployment';
      const aliases = services
        .filter((service) =>
          chooses({ matchLabels: service.spec.selector as Record<string, string> }, pod.metadata.labels ?? {}),
        )
        .map((service) => `${service.metadata.name}.${sources.namespace}.svc`);
      const own = {
        ...asService(main, pod.spec, sources),
        networks: { default: { aliases } },
        ...(isHook ? { profiles: ['hooks'] } : { restart: 'on-failure' }),
      };
      const sidecars = (pod.spec.initContainers ?? []).map((sidecar) => [
        `${metadata.name}-${sidecar.name}`,
        { ...asService(sidecar, pod.spec, sources), network_mode: `service:${metadata.name}`, restart: 'on-failure' },
      ]);
      return [[metadata.name, own], ...sidecars];
    }),
  );
}

function asService(container: Container, pod: PodSpec, { folder }: MountSources): object {
  const { runAsUser, runAsGroup } = pod.securityContext ?? {};
  const volumes = new Map((pod.volumes ?? []).map((volume) => [volume.name, volume]));
  const files = (container.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
    const { secret, configMap } = volumes.get(name) ?? {};
    if (secret)
      return secret.items.map(({ key, path }) => `${join(folder, secret.secretName, key)}:${mountPath}/${path}:ro`);
    return configMap ? [`${join(folder, configMap.name)}:${mountPath}:ro`] : [];
  });
  return {
    image: container.image,
    ...(container.command ? { entrypoint: container.command } : { command: container.args }),
    // Compose interpolates a single $.
    environment: Object.fromEntries(
      (container.env ?? []).map(({ name, value }) => [name, value?.replaceAll('$', '$$$$') ?? 'rtr-pod']),
    ),
    user: `${String(runAsUser)}:${String(runAsGroup)}`,
    read_only: container.securityContext?.['readOnlyRootFilesystem'] === true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    tmpfs: ['/tmp:mode=1777'],
    mem_limit: container.resources?.limits?.['memory']?.replace(/i$/, ''),
    healthcheck: healthCheck(container),
    volumes: files,
    init: true,
  };
}

function healthCheck({ readinessProbe, ports = [] }: Container): object {
  const port = ports.find(({ name }) => name === readinessProbe?.httpGet.port)?.containerPort;
  // A container without a probe is ready as soon as it runs. The image's own check fits only the router's parts.
  if (readinessProbe === undefined || port === undefined) return { test: ['CMD', 'node', '--version'], interval: '2s' };
  const url = `http://127.0.0.1:${port}${readinessProbe.httpGet.path}`;
  const script = `fetch('${url}').then(({ status }) => process.exit(status === 200 ? 0 : 1), () => process.exit(1))`;
  return { test: ['CMD', 'node', '-e', script], interval: '2s', timeout: '5s', retries: 30 };
}
