/**
 * The grammar of Vigil policies (.vgl) for editors. The one that says what a policy is stands in
 * `grammar/vigil.lark`; this one follows it rule by rule, and tests hold the two together.
 *
 * A word is a keyword only where the grammar has a place for it, so `text`, `error` or `prec` stay usable as
 * names. Where items begin is for `src/scanner.c` to say: a broken item does not swallow the next one.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

const NAME = /[A-Za-z_][A-Za-z0-9_]*([.-][A-Za-z0-9_]+)*/;

/** One or more, with commas between. */
const list = (rule) => seq(rule, repeat(seq(',', rule)));

/** None or more, with commas between and, if one likes, after the last. */
const listing = (rule) => optional(seq(list(rule), optional(',')));

/** The kinds of brackets a listing stands in. */
const round = (rule) => seq('(', listing(rule), ')');
const curly = (rule) => seq('{', listing(rule), '}');

module.exports = grammar({
  name: 'vigil',

  externals: ($) => [
    // Words that begin an item. The scanner sees them where a line begins, whatever stands before; elsewhere they
    // are found as every word is.
    'policy',
    'use',
    'let',
    'param',
    'pattern',
    'statement',
    'rule',
    'test',
    '@',
    // Of no width, after each of these: here an item does begin.
    $._begun,
    $.comment,
    $.doc_comment,
    $.string_content,
    $.regex_content,
    $._regex_end,
    // In no rule, so an error wherever they stand: what is not closed on its line, and a number with a tail.
    $._unclosed,
    $._malformed_number,
    // Wanted only where the parser has lost its way; `skipped` makes it dear to go on over the beginning of an item.
    $._lost,
    $.skipped,
  ],

  extras: ($) => [/[\s\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/, $.comment, $.doc_comment],

  word: ($) => $.identifier,

  supertypes: ($) => [$._item, $._expression],

  rules: {
    source_file: ($) => seq(optional($.policy_header), repeat($._item)),

    // --- items ---

    // What an item starts with is one thing to the parser as soon as it is read: when the rest is broken, nothing of
    // it, such as an annotation, is taken for the start of the next item.

    policy_header: ($) => seq(repeat($.annotation), 'policy', $._begun, field('name', $.identifier)),

    _item: ($) =>
      choice(
        $.use_declaration,
        $.let_declaration,
        $.param_declaration,
        $.pattern_declaration,
        $.statement_declaration,
        $.rule_declaration,
        $.test_declaration,
      ),

    annotation: ($) =>
      seq('@', $._begun, field('name', $.identifier), optional(field('arguments', $.annotation_arguments))),
    annotation_arguments: ($) => seq('(', optional(list(choice($.string, $.number, $.identifier))), ')'),

    use_declaration: ($) => seq($._use_head, optional(seq(':', list(field('name', $.identifier))))),
    _use_head: ($) =>
      seq(repeat($.annotation), 'use', $._begun, field('module', choice($.identifier, $.relative_module))),

    let_declaration: ($) => seq($._let_head, field('value', choice($._value, $.regex))),
    _let_head: ($) => seq(repeat($.annotation), 'let', $._begun, field('name', $.identifier), '='),

    param_declaration: ($) =>
      seq($._param_head, field('type', $.type), optional(seq('=', field('default', $._value)))),
    _param_head: ($) => seq(repeat($.annotation), 'param', $._begun, field('name', $.identifier), ':'),
    type: (_) => choice('number', 'text', 'bool', 'set'),

    pattern_declaration: ($) => seq($._pattern_head, field('body', $._expression)),
    _pattern_head: ($) =>
      seq(
        repeat($.annotation),
        'pattern',
        $._begun,
        field('name', $.identifier),
        optional(field('parameters', $.parameters)),
        '=',
      ),
    parameters: ($) => seq('(', list($.identifier), ')'),

    statement_declaration: ($) =>
      seq(
        $._statement_head,
        field('form', $._form),
        optional(seq('after', field('scope', $._expression))),
        optional(seq('where', field('where', $._expression))),
      ),
    _statement_head: ($) => seq(repeat($.annotation), 'statement', $._begun, field('name', $.identifier), ':'),

    rule_declaration: ($) =>
      seq(
        $._rule_head,
        'when',
        field('condition', $._expression),
        'then',
        field('mode', $.mode),
        optional($.record),
        optional($.relaxes),
      ),
    _rule_head: ($) => seq(repeat($.annotation), 'rule', $._begun, field('name', $.identifier), ':'),
    mode: (_) => choice('pass', 'hold', 'block'),
    record: ($) => seq('record', list(field('field', choice($.identifier, $.string)))),
    relaxes: ($) => seq('relaxes', list(field('rule', $.identifier))),

    // --- forms ---

    _form: ($) => choice($.form, $.always_form),
    form: ($) =>
      choice(
        seq(field('name', 'abs'), '(', $._expression, ')'),
        seq(field('name', choice('prec', 'resp', 'rslv')), '(', $._expression, ',', $._expression, ')'),
        seq(field('name', 'until'), '(', $._expression, ',', $._expression, ',', $._expression, ')'),
        seq(field('name', 'bresp'), field('bound', $.bound), '(', $._expression, ',', $._expression, ')'),
        seq(field('name', choice('atmost', 'atleast')), field('bound', $.bound), $._counted, optional($._window)),
        seq(
          field('name', 'budget'),
          '[',
          field('limit', choice($.number, $.identifier)),
          ']',
          '(',
          $._expression,
          ',',
          field('amount', $.field),
          ')',
          optional($._window),
        ),
      ),
    _counted: ($) => seq('(', $._expression, optional(seq(',', 'distinct', field('distinct', $.field))), ')'),
    _window: ($) => choice(seq('in', field('window', $.window), optional($._since)), $._since),
    _since: ($) => seq('since', field('since', $._expression)),
    window: ($) => choice($.duration, seq($.number, $.unit)),
    always_form: ($) => seq(choice('always', '□'), field('body', $._expression)),
    bound: ($) => seq('[', choice($.number, $.duration, $.range), optional($.unit), ']'),
    unit: (_) => choice('call', 'calls', 'step', 'steps'),

    // --- conditions ---

    _expression: ($) => choice($.implication, $._disjunct),
    implication: ($) =>
      seq(field('left', $._disjunct), choice('implies', '⇒'), field('right', $._expression)),
    _disjunct: ($) => choice($.disjunction, $._conjunct),
    disjunction: ($) => seq($._conjunct, repeat1(seq(choice('or', '∨'), $._conjunct))),
    _conjunct: ($) => choice($.conjunction, $._interval),
    conjunction: ($) => seq($._interval, repeat1(seq(choice('and', '∧'), $._interval))),
    _interval: ($) => choice($.interval, $._unary),
    interval: ($) =>
      seq(field('left', $._unary), $._direction, field('right', $._unary)),
    _direction: ($) =>
      seq(optional('weak'), field('direction', choice('since', 'until')), optional(field('bound', $.bound))),
    _unary: ($) => choice($.negation, $.earlier, $.later, $._atom),
    negation: ($) => seq(choice('not', '¬'), $._unary),
    earlier: ($) => seq(choice('earlier', '◇⁻', '◇-'), optional(field('bound', $.bound)), $._unary),
    later: ($) => seq(choice('later', '◇⁺', '◇+'), optional(field('bound', $.bound)), $._unary),

    _atom: ($) =>
      choice(
        $.action_test,
        $.status_test,
        $.field_test,
        $.entry_test,
        $.has_test,
        $.violates_test,
        $.repeated,
        $.application,
        $.reference,
        $.parenthesized,
      ),

    action_test: ($) =>
      seq(
        'action',
        choice(
          seq(choice('in', '∈'), $.set),
          seq('=', choice($.identifier, $.string)),
          seq(choice('~', '∼'), $._text),
        ),
      ),
    status_test: ($) => seq('status', '=', $.status),
    status: (_) => choice('ok', '⊤', 'error', '⊥'),

    field_test: ($) =>
      seq(
        field('field', $.field),
        choice(
          seq(choice('in', '∈', '∉', seq('not', choice('in', '∈'))), field('operand', $.set)),
          seq(choice('=', '!=', '≠'), field('operand', choice($._literal, $.identifier))),
          seq(choice('~', '∼', '!~', '≁'), field('operand', $._text)),
          seq(choice('<', '<=', '≤', '>', '>=', '≥'), field('operand', choice($.number, $.identifier))),
          seq('contains', field('operand', choice($.string, $.identifier))),
        ),
      ),
    has_test: ($) => seq('has', field('field', $.field)),
    violates_test: ($) => seq('violates', field('statement', $.identifier)),
    entry_test: ($) => seq(field('field', $.field), 'with', '(', field('body', $._expression), ')'),
    repeated: ($) =>
      seq('repeated', field('bound', $.bound), $._counted),
    field: ($) => seq(choice($._name, $.string, 'output'), repeat($.view)),
    view: ($) =>
      seq(':', field('name', $.identifier), optional(seq('(', field('argument', choice($.string, $.regex)), ')'))),

    application: ($) => seq(field('name', choice($._name, $.string)), field('arguments', $.arguments)),
    arguments: ($) => round(choice($._expression, $._literal)),
    reference: ($) => $.identifier,
    // What is tested or called may be called so, too; a pattern may not.
    _name: ($) => choice($.identifier, alias('violates', $.identifier)),
    parenthesized: ($) => seq('(', $._expression, ')'),

    _text: ($) => choice($.string, $.identifier, $.regex, alias($._texts, $.set)),
    // More than the name of one.
    _texts: ($) =>
      choice(
        seq($.set_literal, repeat(seq('|', $._set_part))),
        seq($.identifier, repeat1(seq('|', $._set_part))),
      ),

    // --- values ---

    _value: ($) => choice($.set, $._literal),
    set: ($) => seq($._set_part, repeat(seq('|', $._set_part))),
    _set_part: ($) => choice($.set_literal, $.identifier),
    set_literal: ($) => curly(choice($._literal, $.identifier, $.regex)),

    _literal: ($) => choice($.string, $.number, $.boolean),
    boolean: (_) => choice('true', 'false'),

    // --- tests ---

    test_declaration: ($) => seq($._test_head, field('body', $.test_body)),
    _test_head: ($) => seq(repeat($.annotation), 'test', $._begun, field('name', $.string)),
    test_body: ($) => seq('{', repeat(choice($.setting, $.run_file, $.run, $.calls, $.expectation)), '}'),

    setting: ($) => seq('set', field('name', $.identifier), '=', field('value', $._value)),
    run_file: ($) => seq('run', field('path', $.string)),
    run: ($) => seq('run', '{', repeat(choice($.event, $.call)), '}'),
    calls: ($) => seq('calls', optional(seq('in', field('folder', $.string))), '{', repeat($.event), '}'),
    call: ($) => seq('{', repeat1($.event), '}'),

    event: ($) =>
      seq(
        choice(
          seq(optional(seq(field('id', $.identifier), ':')), field('action', $.identifier)),
          seq(field('id', $.identifier), ':', field('action', $.string)),
        ),
        field('arguments', $.event_arguments),
        optional(seq(':', list(field('kind', choice($.identifier, $.string))))),
        optional(seq('at', field('time', $.duration))),
        optional(seq('->', choice($.status, seq($.status, field('output', $.string)), field('output', $.string)))),
      ),
    event_arguments: ($) => round($.argument),
    argument: ($) =>
      seq(field('name', choice($.identifier, $.string)), '=', field('value', choice($._literal, $.composite))),
    composite: ($) => curly(choice($._literal, $.composite, $.argument)),

    expectation: ($) =>
      seq(
        'expect',
        list(field('statement', $.identifier)),
        choice(
          'satisfied',
          'vacuous',
          seq(
            'violated',
            optional(seq('at', list(field('event', choice($.identifier, $.string))))),
            optional(seq('with', list($.binding))),
          ),
          seq(
            choice('holds', 'blocks', 'passes'),
            optional(seq('at', list(field('event', choice($.identifier, $.string))))),
          ),
        ),
      ),
    binding: ($) => seq(field('name', $.identifier), '=', field('value', $._literal)),

    // --- tokens ---

    identifier: (_) => NAME,
    relative_module: (_) => token(seq(/\.+/, NAME)),
    duration: (_) => /[0-9]+(ms|[smhd])/,
    range: (_) => token(prec(1, /[0-9]+(ms|[smhd])?\.\.([0-9]+(ms|[smhd])?)?/)),
    number: (_) => /-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/,

    string: ($) => seq('"', repeat(choice($.string_content, $.escape_sequence)), token.immediate('"')),
    escape_sequence: (_) => token.immediate(seq('\\', choice(/u\{[0-9A-Fa-f]*\}/, /[^\n]/))),

    regex: ($) =>
      seq('/', $.regex_content, alias($._regex_end, '/'), optional(alias(token.immediate('i'), $.regex_flags))),
  },
});
