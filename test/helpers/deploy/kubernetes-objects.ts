/*
 * The fields of Kubernetes objects that the tests of the chart read. Schemas validate the rest; here every field is optional, so that a
 * test names the missing one.
 */

export interface Rendered {
  kind: string;
  metadata: Metadata & { name: string };
  spec: Spec;
  data?: Record<string, string>;
}

export interface Metadata {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'; values?: string[] }[];
}

export type Direction = 'Ingress' | 'Egress';

export interface PolicyPeer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}

export interface PolicyRule {
  from?: PolicyPeer[];
  to?: PolicyPeer[];
  ports?: { protocol?: string; port?: number | string }[];
}

/** The `spec` of any kind: the pod's own, and the fields of Deployments, Services, policies and scalers. */
export interface Spec extends PodSpec {
  template?: { metadata: Metadata; spec: PodSpec };
  replicas?: number;
  strategy?: { rollingUpdate: { maxUnavailable: number; maxSurge: number } };
  selector?: Selector & Record<string, unknown>;
  podSelector?: Selector;
  policyTypes?: Direction[];
  ingress?: PolicyRule[];
  egress?: PolicyRule[];
  ports?: { name: string; port: number; targetPort: string }[];
  scaleTargetRef?: { name: string };
  minReplicaCount?: number;
  advanced?: { scalingModifiers: { formula: string; target: string } };
  triggers?: { type: string; name: string; metadata: Record<string, string> }[];
  metrics?: { pods?: { metric: { name: string } } }[];
  rules?: { backendRefs?: { name: string; port: number }[]; timeouts?: Record<string, string> }[];
  endpoints?: ScrapedEndpoint[];
  podMetricsEndpoints?: ScrapedEndpoint[];
}

/** A scrape endpoint of a ServiceMonitor or PodMonitor. */
export interface ScrapedEndpoint {
  port: string;
  path: string;
  relabelings?: { replacement: string }[];
}

export interface PodSpec {
  containers?: Container[];
  initContainers?: Container[];
  volumes?: {
    name: string;
    secret?: { secretName: string; items: { key: string; path: string }[] };
    configMap?: { name: string };
  }[];
  automountServiceAccountToken?: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext?: Record<string, unknown>;
  topologySpreadConstraints?: { labelSelector: Selector }[];
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: object }[];
  ports?: { name: string; containerPort: number }[];
  restartPolicy?: string;
  securityContext?: Record<string, unknown>;
  resources?: { limits?: Record<string, string> };
  volumeMounts?: { name: string; mountPath: string }[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
}

interface Probe {
  httpGet: { path: string; port: string };
}
