// Every sentence is there in both languages, and no view holds a sentence of its own.
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { MESSAGES } from '../src/text';

const entries = Object.entries(MESSAGES) as [string, readonly [string, string]][];
const numbers = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((found) => found[1]).sort();
const source = new URL('../src/', import.meta.url);

test('every message is there in both languages with the same numbers', () => {
  expect(entries.length).toBeGreaterThan(100);
  for (const [code, [english, chinese]] of entries) {
    expect(english.trim(), code).not.toBe('');
    expect(chinese.trim(), code).not.toBe('');
    expect(numbers(chinese), code).toEqual(numbers(english));
  }
});

test('the Chinese of a message is Chinese, with Chinese punctuation', () => {
  const alike = new Set(['app.name', 'word.gpu', 'word.gpu_word', 'app.other_language']);
  for (const [code, [, chinese]] of entries) {
    if (alike.has(code) || code.startsWith('same.')) continue;
    expect(chinese, code).toMatch(/\p{Script=Han}/u);
    expect(chinese, code).not.toMatch(/\p{Script=Han}[,;:!?]/u);
  }
});

test('counts have both English forms', () => {
  const codes = new Set(entries.map(([code]) => code));
  for (const code of codes) if (code.endsWith('_one')) expect(codes, code).toContain(code.replace(/_one$/, '_other'));
});

test('every message is used', () => {
  const texts = files('.tsx').concat(files('.ts')).filter((name) => !name.startsWith('text/'))
    .map((name) => readFileSync(new URL(name, source), 'utf8')).join('\n');
  const made = [...texts.matchAll(/`([a-z_.]+\.)\$\{/g)].map((found) => found[1] ?? '');
  for (const [code] of entries) {
    const base = code.replace(/_(one|other)$/, '');
    const found = texts.includes(`'${base}'`) || texts.includes(`'${code}'`) || made.some((start) => code.startsWith(start));
    expect(found, `${code} is not used`).toBe(true);
  }
});

function files(end: string): string[] {
  return (readdirSync(source, { recursive: true }) as string[]).filter((name) => name.endsWith(end));
}

const SPOKEN = new Set(['title', 'label', 'placeholder', 'alt', 'aria-label', 'description']);
const word = /[\p{L}]{2,}/u;

test.each(files('.tsx'))('%s says nothing but through the catalogue', (name) => {
  const tree = ts.createSourceFile(name, readFileSync(new URL(name, source), 'utf8'), ts.ScriptTarget.ES2022, true, ts.ScriptKind.TSX);
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isJsxText(node) && word.test(node.text)) found.push(node.text.trim());
    if (ts.isJsxAttribute(node) && node.initializer && ts.isStringLiteral(node.initializer)
      && SPOKEN.has(node.name.getText(tree)) && word.test(node.initializer.text)) found.push(node.initializer.text);
    if (ts.isJsxExpression(node) && node.expression && (ts.isJsxElement(node.parent) || ts.isJsxFragment(node.parent))) {
      const literals = ts.isConditionalExpression(node.expression) ? [node.expression.whenTrue, node.expression.whenFalse] : [node.expression];
      for (const each of literals) if (ts.isStringLiteral(each) && word.test(each.text)) found.push(each.text);
    }
    ts.forEachChild(node, look);
  };
  look(tree);
  expect(found).toEqual([]);
});
