import { expect, test } from 'vitest';
import { isKeysUrlOf } from './fetch-issuer-metadata.ts';

test.each([
  ['https://id.example.com', 'https://keys.example.com/jwks', true],
  ['https://id.example.com', 'HTTPS://keys.example.com/jwks', true],
  ['https://id.example.com', 'http://127.0.0.1:8081/jwks', false],
  ['https://id.example.com', 'http://localhost/jwks', false],
  ['https://id.example.com', 'https://user:secret@keys.example.com/jwks', false],
  ['http://127.0.0.1:8081', 'http://127.0.0.1:8081/jwks', true],
  ['http://127.0.0.1:8081', 'http://keys.example.com/jwks', false],
])('the keys of issuer %s are read from %s: %s', (issuer, keysUrl, expected) => {
  expect(isKeysUrlOf(issuer, keysUrl)).toBe(expected);
});
