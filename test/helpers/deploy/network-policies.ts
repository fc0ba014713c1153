import { BlockList, isIPv6 } from 'node:net';
import type { Direction, PolicyPeer, PolicyRule, Rendered, Selector } from './kubernetes-objects.ts';

/** One end of a connection: a pod in a namespace, or an address outside the cluster. */
export type Peer = { namespace: string; labels: Record<string, string> } | { address: string };

/** A port by number, and by its name in the container. */
export interface Port {
  number: number;
  name?: string;
  protocol?: 'TCP' | 'UDP';
}

/**
 * Whether policies allow a connection, by the rules of networking.k8s.io/v1: a pod that no policy selects for a direction is open in it; a
 * selected pod is open to everything that any of its policies allows; both ends must allow the connection.
 * @param policies the policies of one namespace
 */
export function letsThrough(
  policies: readonly Rendered[],
  namespace: string,
  from: Peer,
  to: Peer,
  port: Port,
): boolean {
  const allows = (pod: Peer, direction: Direction, other: Peer): boolean => {
    if (!('labels' in pod) || pod.namespace !== namespace) return true;
    const choosing = policies.filter(
      ({ spec }) => spec.policyTypes?.includes(direction) && chooses(spec.podSelector ?? {}, pod.labels),
    );
    if (choosing.length === 0) return true;
    return choosing.some(({ spec }) => {
      const rules = (direction === 'Ingress' ? spec.ingress : spec.egress) ?? [];
      return rules.some(
        ({ from, to, ports }) => isAmong(direction === 'Ingress' ? from : to, other, namespace) && hasPort(ports, port),
      );
    });
  };
  return allows(from, 'Egress', to) && allows(to, 'Ingress', from);
}

/** Whether a selector matches these labels. An empty selector matches everything. */
export function chooses(
  { matchLabels = {}, matchExpressions = [] }: Selector,
  labels: Record<string, string>,
): boolean {
  return (
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      return (value !== undefined && values.includes(value)) === (operator === 'In');
    })
  );
}

function isAmong(peers: readonly PolicyPeer[] | undefined, other: Peer, home: string): boolean {
  if (peers === undefined || peers.length === 0) return true;
  return peers.some(({ podSelector, namespaceSelector, ipBlock }) => {
    if (ipBlock)
      return (
        'address' in other &&
        isWithin(other.address, ipBlock.cidr) &&
        !ipBlock.except?.some((cidr) => isWithin(other.address, cidr))
      );
    if (!('labels' in other)) return false;
    const isFromThere = namespaceSelector
      ? chooses(namespaceSelector, { 'kubernetes.io/metadata.name': other.namespace })
      : other.namespace === home;
    return isFromThere && chooses(podSelector ?? {}, other.labels);
  });
}

function hasPort(ports: PolicyRule['ports'], { number, name, protocol = 'TCP' }: Port): boolean {
  if (ports === undefined || ports.length === 0) return true;
  return ports.some(
    (each) =>
      (each.protocol ?? 'TCP') === protocol && (each.port === undefined || each.port === number || each.port === name),
  );
}

function isWithin(address: string, cidr: string): boolean {
  const [network = '', bits = ''] = cidr.split('/');
  const family = isIPv6(network) ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') && isIPv6(address) === isIPv6(network);
}
