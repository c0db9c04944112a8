/** Severity of a fault: an error keeps the whole set from loading, a warning does not. */
export type Severity = 'error' | 'warning'

const error = (title: string) => ({ severity: 'error', title }) as const
const warning = (title: string) => ({ severity: 'warning', title }) as const

/**
 * Every fault that a policy set can have. A code never changes its meaning: scripts and documents
 * refer to it. 10xx files and syntax, 11xx shape, 12xx names and references, 13xx types and values,
 * 14xx schemas of actions, 15xx test files, 20xx warnings, 21xx advice that only lint shows.
 */
export const DIAGNOSTICS = {
  GATE1001: error('The file is too large'),
  GATE1002: error('The file is not UTF-8'),
  GATE1003: error('The file is not valid YAML'),
  GATE1004: error('The file is not valid JSON'),
  GATE1005: error('The file is empty'),
  GATE1006: error('The file holds more than one document'),
  GATE1007: error('Directives are not allowed'),
  GATE1008: error('Anchors and aliases are not allowed'),
  GATE1009: error('Tags are not allowed'),
  GATE1010: error('Merge keys are not allowed'),
  GATE1011: error('A key appears twice'),
  GATE1012: error('The key is reserved'),
  GATE1013: error('The key is not a string'),
  GATE1014: error('The nesting is too deep'),
  GATE1015: error('The number cannot be held exactly'),
  GATE1016: error('The text is not well-formed Unicode'),
  GATE1017: error('The set has too many rules'),
  GATE1018: error('The folder has no policy file'),
  GATE1019: error('There are more faults than are shown'),
  GATE1020: error('The set has too many comparisons'),
  GATE1021: error('The set has too many facts over time'),
  GATE1022: error('The link leads out of its folder'),
  GATE1023: error('The entry is named as a policy and is not read'),

  GATE1101: error('The key is unknown'),
  GATE1102: error('A required key is missing'),
  GATE1103: error('The value has the wrong type'),
  GATE1104: error('The value is not one of those allowed'),
  GATE1105: error('The value is empty'),
  GATE1106: error('The number is out of range'),
  GATE1107: error('The name is malformed'),
  GATE1108: error('Exactly one of the keys is needed'),
  GATE1109: error('The apiVersion is unknown'),
  GATE1110: error('The tenant is not that of the folder'),
  GATE1111: error('Approval terms need effect require_approval'),
  GATE1112: error('Allow cannot be the default'),
  GATE1113: error('The condition has no form, or more than one'),
  GATE1114: error('The action pattern is malformed'),
  GATE1115: error('The name of the action is malformed'),
  GATE1116: error('The duration is malformed'),
  GATE1117: error('The time zone is unknown'),

  GATE1201: error('Two rules have the same id'),
  GATE1202: error('The name is declared twice'),
  GATE1203: error('The fact is not declared'),
  GATE1204: error('The fact path is malformed'),
  GATE1205: error('The fact does not exist'),
  GATE1206: error('The operator is unknown'),
  GATE1207: error('The list is unknown'),
  GATE1208: error('The condition is unknown'),
  GATE1209: error('The domain is unknown'),
  GATE1210: error('The conditions refer to each other in a cycle'),
  GATE1211: error('The key is set in more than one file'),
  GATE1212: error('An action would be in two domains'),
  GATE1213: error('The list file cannot be read'),
  GATE1214: error('The path cannot be left unbound'),
  GATE1215: error('The conditions refer to each other too deeply'),
  GATE1216: error('The set declares no session'),

  GATE1301: error('The value does not suit the operator'),
  GATE1302: error('The fact does not suit the operator'),
  GATE1303: error('The operator takes no value'),
  GATE1304: error('The pattern does not compile'),
  GATE1305: error('The pattern is too long'),
  GATE1306: error('The address range is malformed'),
  GATE1307: error('The time is malformed'),
  GATE1308: error('The default does not have the type of the fact'),
  GATE1309: error('The type contradicts the schema of an action'),
  GATE1310: error('The thresholds are in the wrong order'),
  GATE1311: error('The scale does not go up'),
  GATE1312: error('The scale needs a number'),
  GATE1313: error('The content of the list file is malformed'),
  GATE1314: error('The comparison has the same result for every value'),
  GATE1315: error('The fact cannot name a session or be added up'),

  GATE1401: error('The schema keyword is unknown'),
  GATE1402: error('The schema is malformed'),
  GATE1403: error('The reference does not lead into $defs'),
  GATE1404: error('The schema refers to itself, or grows without measure'),
  GATE1405: error('The pattern of the schema does not compile'),
  GATE1406: error('uniqueItems needs maxItems of at most 1000'),
  GATE1407: error('The schema can never match'),
  GATE1408: error('The format is unknown'),

  GATE1501: error('The key is unknown in a test file'),
  GATE1502: error('A required key of the test file is missing'),
  GATE1503: error('The value of the test file is malformed'),
  GATE1504: error('The test refers to a name that is not declared'),
  GATE1505: error('Two tests have the same name'),
  GATE1506: error('A policy test fails'),
  GATE1507: error('The bounds exclude every number'),
  GATE1508: error('The expectation selects nothing'),
  GATE1509: error('The tests ask too much'),
  GATE1510: error('The matrix names something twice'),

  GATE2001: warning('The entry of the folder is ignored'),
  GATE2002: warning('The list is not used'),
  GATE2003: warning('The condition is not used'),
  GATE2005: warning('The value never occurs'),
  GATE2006: warning('The rule can never decide'),
  GATE2007: warning('The rule reads a fact that may be missing'),
  GATE2008: warning('The address range has bits beyond its prefix'),
  GATE2009: warning('The list is empty'),
  GATE2010: warning('There are more warnings than are shown'),
  GATE2011: warning('The condition can never be true'),
  GATE2012: warning('The condition can never be false'),
  GATE2013: warning('The part of the condition changes nothing'),
  GATE2014: warning('The default keeps a rule or factor from applying'),
  GATE2015: warning('The action pattern adds nothing to its list'),
  GATE2016: warning('Two rules say the same'),
  GATE2017: warning('The value stands twice in its list'),
  GATE2018: warning('A number or boolean is written as text'),
  GATE2019: warning('The scale never varies'),
  GATE2021: warning('The lint-ignore comment is malformed'),
  GATE2022: warning('The lint-ignore comment names an unknown code'),
  GATE2023: warning('The code cannot be ignored'),
  GATE2024: warning('The lint-ignore comment ignores nothing'),
  GATE2025: warning('The fact over time is not used'),
  GATE2026: warning('The fact over time counts nothing'),
  GATE2027: warning('The line of a list file is probably not the value meant'),
  GATE2028: warning('The constant is the name of a fact'),
  GATE2029: warning('The action pattern ends at a dot'),
  GATE2030: warning('The approver group looks misspelt'),
  GATE2031: warning('No single group can approve both holds'),
  GATE2050: warning('The fixture of a test file is not used'),

  GATE2101: warning('The rule is not tested'),
  GATE2102: warning('The negation does not hold where the fact is missing'),
  GATE2103: warning('The constant is a long list'),
  GATE2104: warning('The pattern that allows is not anchored'),
  GATE2105: warning('Every action is allowed'),
  GATE2106: warning('Who asks may approve'),
  GATE2107: warning('The risk score changes no decision'),
  GATE2108: warning('The action pattern looks misspelt'),
} as const

export type DiagnosticCode = keyof typeof DIAGNOSTICS

/** True for the codes of advice, which `gate-sidecar lint` shows and loading does not. */
export function isAdvice(code: string): boolean {
  return code >= 'GATE2100' && code < 'GATE2150'
}

/** The page that explains a code, as a path from the root of the project. */
export function pageOf(code: DiagnosticCode): string {
  return `docs/errors/${code}.md`
}
