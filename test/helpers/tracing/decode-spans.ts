/** One span as a collector gets it. */
export interface ReceivedSpan {
  service: string;
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentId: string;
  name: string;
  /** Number in OTLP: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  /** Nanoseconds since 1970. */
  start: bigint;
  end: bigint;
  attributes: Record<string, unknown>;
  failed: boolean;
}

type Field = { number: number; value: bigint | Buffer };

/** Reads the fields of an OTLP `ExportTraceServiceRequest` in protobuf that tests check (opentelemetry/proto/trace/v1). */
export function decodeSpans(body: Buffer): ReceivedSpan[] {
  return messages(body, 1).flatMap((resourceSpans) => {
    const attributes = attributesOf(messages(resourceSpans, 1)[0] ?? Buffer.alloc(0), 1);
    return messages(resourceSpans, 2)
      .flatMap((scopeSpans) => messages(scopeSpans, 2))
      .map((span) => readSpan(span, String(attributes['service.name'])));
  });
}

function readSpan(span: Buffer, service: string): ReceivedSpan {
  const fields = fieldsOf(span);
  const bytes = (number: number): Buffer => {
    const value = fields.find((field) => field.number === number)?.value;
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
  };
  const whole = (number: number): bigint => {
    const value = fields.find((field) => field.number === number)?.value;
    return typeof value === 'bigint' ? value : 0n;
  };
  const status = fieldsOf(bytes(15)).find(({ number }) => number === 3)?.value;
  return {
    service,
    traceId: bytes(1).toString('hex'),
    spanId: bytes(2).toString('hex'),
    parentId: bytes(4).toString('hex'),
    name: bytes(5).toString(),
    kind: Number(whole(6)),
    start: whole(7),
    end: whole(8),
    attributes: attributesOf(span, 9),
    failed: status === 2n,
  };
}

function attributesOf(message: Buffer, number: number): Record<string, unknown> {
  return Object.fromEntries(
    messages(message, number).map((keyValue) => [
      String(messages(keyValue, 1)[0]),
      valueOf(messages(keyValue, 2)[0] ?? Buffer.alloc(0)),
    ]),
  );
}

function valueOf(anyValue: Buffer): unknown {
  const [field] = fieldsOf(anyValue);
  if (!field) return undefined;
  const { number, value } = field;
  if (Buffer.isBuffer(value)) {
    if (number === 1) return value.toString();
    return number === 5 ? messages(value, 1).map(valueOf) : undefined;
  }
  if (number === 2) return value === 1n;
  if (number === 3) return Number(BigInt.asIntN(64, value));
  const double = Buffer.alloc(8);
  double.writeBigUInt64LE(value);
  return double.readDoubleLE();
}

function messages(message: Buffer, number: number): Buffer[] {
  return fieldsOf(message).flatMap((field) =>
    field.number === number && Buffer.isBuffer(field.value) ? [field.value] : [],
  );
}

function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = Number(varint());
    const number = tag >> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ number, value: varint() });
        break;
      case 1:
        fields.push({ number, value: take(8).readBigUInt64LE() });
        break;
      case 2:
        fields.push({ number, value: take(Number(varint())) });
        break;
      case 5:
        fields.push({ number, value: BigInt(take(4).readUInt32LE()) });
        break;
      default:
        throw new Error(`a field of an unknown kind: ${tag & 7}`);
    }
  }
  return fields;
}
