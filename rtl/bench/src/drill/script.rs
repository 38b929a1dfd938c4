//! The parser of scripts. `scripts/README.md` describes the language.

use super::args::{ScriptError, ScriptLine, number};
use super::endpoint::Settings;
use super::steps::Step;

/// Maximum number of lines of a file.
pub const MAX_LINES: usize = 2000;
/// Maximum number of steps after unrolling `repeat`.
pub const MAX_STEPS: usize = 20_000;
/// A generic that the script needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Name as in [`super::endpoint::Build::get`].
    pub name: String,
    /// Minimum value.
    pub least: u64,
    /// Maximum value.
    pub most: u64,
}

/// A script.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "described in scripts/README.md")]
pub struct Script {
    pub point: String,
    pub clause: String,
    pub title: String,
    pub needs: Vec<Need>,
    pub settings: Settings,
    /// Steps with their lines.
    pub steps: Vec<(usize, Step)>,
}

/// Parses a script.
///
/// # Errors
/// Returns the first invalid line.
pub fn parse(text: &str) -> Result<Script, ScriptError> {
    let mut script = Script::default();
    let mut block: Option<(usize, u64, usize)> = None;
    for (i, text) in text.lines().enumerate() {
        let no = i + 1;
        if no > MAX_LINES {
            return Err(ScriptError { line: no, text: format!("more than {MAX_LINES} lines") });
        }
        let Some(mut line) = ScriptLine::new(no, text) else { continue };
        let rest = text.trim().split_once(' ').map_or("", |(_, r)| r.trim()).to_string();
        let verb = line.need("a command")?;
        match verb.as_str() {
            "point" => script.point = rest,
            "clause" => script.clause = rest,
            "title" => script.title = rest,
            "need" => {
                script.needs.push(need(&rest).ok_or_else(|| line.error("NAME=N or NAME>=N"))?);
            }
            "set" => {
                if !script.steps.is_empty() {
                    return Err(line.error("`set` stands before the first step"));
                }
                super::set::apply(&mut script.settings, line)?;
            }
            "repeat" => {
                if block.is_some() {
                    return Err(line.error("`repeat` within `repeat`"));
                }
                block = Some((no, line.number("count", 10_000)?, script.steps.len()));
                line.end()?;
            }
            "end" => {
                let (_, n, at) =
                    block.take().ok_or_else(|| line.error("`end` without `repeat`"))?;
                let body = script.steps.split_off(at);
                if body.len() as u64 * n + at as u64 > MAX_STEPS as u64 {
                    return Err(line.error(format!("more than {MAX_STEPS} steps")));
                }
                for _ in 0..n {
                    script.steps.extend(body.iter().cloned());
                }
            }
            _ => super::verbs::parse(&mut script.steps, &verb, line)?,
        }
        if script.steps.len() > MAX_STEPS {
            return Err(ScriptError { line: no, text: format!("more than {MAX_STEPS} steps") });
        }
    }
    if let Some((line, ..)) = block {
        return Err(ScriptError { line, text: "`repeat` without `end`".into() });
    }
    for (name, value) in
        [("point", &script.point), ("clause", &script.clause), ("title", &script.title)]
    {
        if value.is_empty() {
            return Err(ScriptError { line: 1, text: format!("the script has no line `{name}`") });
        }
    }
    if script.steps.is_empty() {
        return Err(ScriptError { line: 1, text: "the script has no steps".into() });
    }
    Ok(script)
}

fn need(text: &str) -> Option<Need> {
    let (name, least, most) = match text.split_once(">=") {
        Some((name, v)) => (name, number(v.trim())?, u64::MAX),
        None => {
            let (name, v) = text.split_once('=')?;
            let v = number(v.trim())?;
            (name, v, v)
        }
    };
    let name = name.trim().to_string();
    super::endpoint::Build::default().get(&name)?;
    Some(Need { name, least, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "point C1\nclause RFC 9293, 3.10.7.1\ntitle t\n";

    fn fails(body: &str) -> String {
        parse(&format!("{HEAD}{body}")).expect_err("an error").to_string()
    }

    #[test]
    fn a_script_is_parsed() {
        let s =
            parse(&format!("{HEAD}need mtu>=1500\nset rto_init 300\nopen 0 passive\nadvance 5\n"))
                .expect("valid");
        assert_eq!(s.point, "C1");
        assert_eq!(s.settings.rto_init, 300);
        assert_eq!(s.needs[0], Need { name: "mtu".into(), least: 1500, most: u64::MAX });
        assert_eq!(s.steps.last(), Some(&(7, Step::Advance(5))));
    }

    #[test]
    fn repeat_is_unrolled_and_bounded() {
        let s = parse(&format!("{HEAD}repeat 3\nadvance 1\nend\n")).expect("valid");
        assert_eq!(s.steps.len(), 3);
        assert!(
            fails("repeat 10000\nadvance 1\nadvance 1\nadvance 1\nend\n").contains("more than")
        );
        assert!(fails("repeat 2\nadvance 1\n").contains("without `end`"));
        assert!(fails("end\n").contains("without `repeat`"));
    }

    #[test]
    fn errors_have_lines() {
        assert_eq!(fails("jump 1\n"), "line 4: `jump` is not a command");
        assert_eq!(fails("advance 99999999\n"), "line 4: ticks is 99999999; at most 10000000");
        assert!(fails("need color=1\n").starts_with("line 4"));
        assert!(fails("set nothing 1\n").contains("`nothing`"));
        assert!(fails("> SYN foo=1\n").contains("`foo`"));
        assert!(fails("advance 1\nset mss 500\n").contains("before the first step"));
        assert!(parse("advance 1\n").is_err());
        assert!(parse(HEAD).expect_err("no steps").text.contains("no steps"));
    }
}
