// Doc comments and types, read from the sources by TypeScript itself.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './root.mjs';

function parse(path) {
  return ts.createSourceFile(
    path,
    readFileSync(join(root, path), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
}

function docOf(node) {
  const docs = ts
    .getJSDocCommentsAndTags(node)
    .map((doc) => ts.getTextOfJSDocComment(doc.comment) ?? '');
  return docs.join(' ').replace(/\s+/g, ' ').trim();
}

/** `{ name, doc }` of each exported constant of a file, in its order. */
export function documentedConstants(path) {
  return parse(path)
    .statements.filter(ts.isVariableStatement)
    .map((node) => ({ name: node.declarationList.declarations[0].name.text, doc: docOf(node) }));
}

/** `{ name, type, doc }` of each member of an interface, in its order. A union of literals is written out. */
export function documentedMembers(path, name) {
  const { statements } = parse(path);
  const found = statements.find(
    (node) => ts.isInterfaceDeclaration(node) && node.name.text === name,
  );
  if (found === undefined) throw new Error(`${path} has no interface ${name}`);
  const literals = new Map(
    statements
      .filter((node) => ts.isTypeAliasDeclaration(node) && isLiterals(node.type))
      .map((node) => [node.name.text, node.type.types.map((type) => type.getText()).join(' | ')]),
  );
  return found.members.map((member) => {
    const type = member.type.getText().replace(/\s+/g, ' ');
    return {
      name: member.name.getText() + (member.questionToken ? '?' : ''),
      type: literals.get(type) ?? type,
      doc: docOf(member),
    };
  });
}

function isLiterals(type) {
  return ts.isUnionTypeNode(type) && type.types.every(ts.isLiteralTypeNode);
}
