import { RouterError } from '#shared/core/errors.ts';

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [lineFeed, carriageReturn, space, tab] = [0x0a, 0x0d, 0x20, 0x09];

/** A field name is compared by this many bytes. Bytes beyond them are not stored. */
const maxNameLength = 64;

/**
 * Finds the elements of one array in a JSON object that arrives in pieces, so that the object need not fit into memory. Each element is the
 * text of a JSON value without line breaks. The splitter does not validate elements, so the caller has to parse them. Of the object around
 * the array, the splitter checks only what it needs to find the elements.
 */
export class ArraySplitter {
  readonly #field: string;
  readonly #maxBytes: number;
  /** Number of open arrays and objects: 1 inside the object, 2 inside the array. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** Whether the next string is a field name. */
  #expectsName = false;
  /** Bytes of the last field name, or of the field name that is being read. */
  #name: number[] = [];
  #isInName = false;
  #isInArray = false;
  #hasFoundArray = false;
  #isOver = false;
  /** Bytes of the element that has begun and not ended. */
  #element: Buffer[] = [];
  #elementBytes = 0;
  #hasElement = false;

  /**
   * @param field name of the field with the array
   * @param maxBytes largest size of one element
   */
  constructor(field: string, maxBytes: number) {
    this.#field = field;
    this.#maxBytes = maxBytes;
  }

  /**
   * Adds a piece of the text.
   * @returns the elements that end in the piece
   * @throws RouterError `invalid_json` for a text that is not an object, `body_too_large` for an element that is too large
   */
  push(piece: Uint8Array): Buffer[] {
    const elements: Buffer[] = [];
    // Position in the piece at which the current element begins or continues; -1 if there is no current element.
    let elementStart = this.#hasElement ? 0 : -1;
    const finish = (to: number): void => {
      if (!this.#hasElement) return;
      this.#addToElement(piece.subarray(elementStart, to));
      elements.push(this.#takeElement());
      elementStart = -1;
    };
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] ?? 0;
      if (this.#isInString) {
        this.#readStringByte(byte);
        continue;
      }
      if (byte === space || byte === lineFeed || byte === carriageReturn || byte === tab) continue;
      if (this.#isOver || (this.#depth === 0 && byte !== openBrace)) throw invalidJsonError();
      const isDirect = this.#isInArray && this.#depth === 2;
      if (isDirect && byte === comma) finish(at);
      else if (isDirect && byte === closeBracket) {
        finish(at);
        this.#isInArray = false;
        this.#depth -= 1;
      } else {
        if (isDirect && !this.#hasElement) {
          this.#hasElement = true;
          elementStart = at;
        }
        this.#readTokenByte(byte);
      }
    }
    if (this.#hasElement) this.#addToElement(piece.subarray(elementStart));
    return elements;
  }

  /**
   * Checks that the text is complete. Call it after the last piece.
   * @throws RouterError `invalid_json`; `missing_parameter` for an object without the array
   */
  end(): void {
    // If a brace closes the array, its last element has not ended.
    if (!this.#isOver || this.#hasElement) throw invalidJsonError();
    if (this.#hasFoundArray) return;
    const message = `Missing required field ${this.#field}: it must be an array.`;
    throw new RouterError('missing_parameter', message, { param: this.#field });
  }

  #readStringByte(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) {
      this.#isInString = false;
      this.#isInName = false;
      return;
    }
    if (this.#isInName && this.#name.length <= maxNameLength) this.#name.push(byte);
  }

  #readTokenByte(byte: number): void {
    switch (byte) {
      case quote:
        this.#isInString = true;
        if (this.#depth !== 1 || !this.#expectsName) return;
        this.#isInName = true;
        this.#name = [];
        return;
      case openBrace:
      case openBracket:
        this.#depth += 1;
        if (this.#depth === 1) this.#expectsName = true;
        if (this.#depth === 2 && byte === openBracket && Buffer.from(this.#name).toString() === this.#field) {
          this.#isInArray = true;
          this.#hasFoundArray = true;
        }
        return;
      case closeBrace:
      case closeBracket:
        this.#depth -= 1;
        this.#isOver = this.#depth === 0;
        return;
      case comma:
        if (this.#depth === 1) this.#expectsName = true;
        return;
      case colon:
        if (this.#depth === 1) this.#expectsName = false;
        return;
      default:
        return;
    }
  }

  #addToElement(bytes: Uint8Array): void {
    this.#elementBytes += bytes.length;
    if (this.#elementBytes > this.#maxBytes)
      throw new RouterError('body_too_large', `A request is larger than ${this.#maxBytes} bytes.`);
    this.#element.push(Buffer.from(bytes));
  }

  /** Returns the element on one line. That is possible because JSON allows line breaks only outside of strings. */
  #takeElement(): Buffer {
    const element = Buffer.concat(this.#element);
    for (let at = 0; at < element.length; at += 1) {
      const byte = element[at];
      if (byte === lineFeed || byte === carriageReturn) element[at] = space;
    }
    this.#element = [];
    this.#elementBytes = 0;
    this.#hasElement = false;
    return element;
  }
}

function invalidJsonError(): RouterError {
  return new RouterError('invalid_json', 'We could not parse the JSON body of your request.');
}
