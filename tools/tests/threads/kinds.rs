//! What is wrong in a mutant of a kernel's text.

/// One thing wrong: what, and the text with it.
pub type Mutant = (String, String);

/// Texts that lack one of the lines with a word.
pub fn without(text: &str, word: &str) -> Vec<Mutant> {
    edited(text, |line| line.contains(word).then(String::new).into_iter().collect())
}

/// Texts that wait for one less at one of the lines with a word, whose operand is what may be under way.
pub fn for_less(text: &str, word: &str) -> Vec<Mutant> {
    edited(text, |line| {
        let Some((before, rest)) = line.split_once('(').filter(|_| line.contains(word)) else {
            return Vec::new();
        };
        let (left, after) = rest.split_once(')').expect("it has an operand");
        let ty = after.split(['(', ')']).nth(1).expect("it has a type");
        let one = format!("%one_more = arith.constant 1 : {ty}");
        let more = format!("%left_more = arith.addi {left}, %one_more : {ty}");
        vec![format!("{one}\n{more}\n{before}(%left_more){after}")]
    })
}

/// Texts of which one line is another.
pub fn edited(text: &str, change: impl Fn(&str) -> Vec<String>) -> Vec<Mutant> {
    let lines: Vec<&str> = text.lines().collect();
    let mut mutants = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        for changed in change(line) {
            let what = format!("{at}: {}  ->  {}", line.trim(), changed.trim());
            let mut all = lines.clone();
            all[at] = &changed;
            mutants.push((what, all.join("\n")));
        }
    }
    mutants
}

/// What is done to a program, and its programs with that.
pub type Kind = (&'static str, fn(&str) -> Vec<Mutant>);

pub const WAITS: Kind = ("leave out a wait", |text| without(text, "device.wait "));
pub const BARRIERS: Kind = ("leave out a barrier", |text| {
    let mut mutants = without(text, "device.barrier \"core\"");
    mutants.extend(without(text, "device.barrier \"warp\""));
    mutants
});
/// Those behind which something is taken; the one in front of the second product is there for the turns alone.
pub const HANDED: Kind = ("leave out a barrier", |text| {
    let mut mutants = without(text, "device.barrier \"core\"");
    // Two in front of the loop, three in it, and one in front of the last piece.
    assert_eq!(mutants.len(), 6, "another one may be in that place");
    mutants.remove(3);
    mutants
});
/// Moves without a token: others are waited for.
pub const MOVES: Kind = ("leave out a transfer", |text| {
    edited(text, |line| {
        let moves = line.contains("device.transfer ") && !line.contains("-> !device.token");
        moves.then(String::new).into_iter().collect()
    })
});
pub const FILLS: Kind = ("leave out what sums begin with", |text| without(text, "device.fill "));
/// Of the last wait's tokens the last one, behind which all are there.
pub const TOKENS: Kind = ("leave out a token", |text| {
    edited(text, |line| {
        let tokens = line.trim_start().strip_prefix("device.wait ");
        let fewer = tokens.and_then(|tokens| tokens.rsplit_once(", "));
        fewer.map(|(tokens, _)| format!("device.wait {tokens}")).into_iter().collect()
    })
});
/// What a round carries to the next one is what it was given.
pub const CARRIED: Kind = ("carry a token of the round before", carried);
pub const SIZES: Kind =
    ("move half", |text| edited(text, |line| halved(line, " sizes [").into_iter().collect()));
pub const ROOMS: Kind = ("take the first room", |text| {
    edited(text, |line| {
        let Some((name, operands)) = line.split_once(" = arith.remui ") else { return Vec::new() };
        let (of, by) = operands.split_once(", ").expect("it has two operands");
        let count = by.split(" : ").next().expect("it has a type");
        // A number below the rooms is another one than it should be.
        vec![format!("{name} = arith.subi {of}, {of} : index // of {count}")]
    })
});
pub const FEWER: Kind = ("have a room less", |text| {
    let rooms = |line: &str| {
        let (_, ty) = line.split_once("device.alloc")?.1.split_once("memref<")?;
        let near = ty.contains("\"smem\"") || ty.contains("\"lds\"");
        let (count, rest) = ty.split_once('x')?;
        let count: u64 = count.parse().ok().filter(|count| near && *count > 1)?;
        Some((format!("memref<{ty}"), format!("memref<{}x{rest}", count - 1)))
    };
    let all = text.lines().filter_map(rooms);
    all.map(|(from, to)| (format!("{from} -> {to}"), text.replace(&from, &to))).collect()
});
/// Arrivals that nobody makes or waits for, and one in front of what the group still waits for.
pub const ARRIVALS: Kind = ("arrive too early", |text| {
    let mut mutants = edited(text, |line| {
        let made = line.contains("device.arrive ").then(|| line.split_once(" = "));
        let never = made.flatten().map(|(token, _)| format!("{token} = device.ready"));
        let waits = line.split_once(" after(").and_then(|(before, rest)| {
            let (_, behind) = rest.split_once(')')?;
            Some(format!("{before}{behind}"))
        });
        never.into_iter().chain(waits).collect()
    });
    let lines: Vec<&str> = text.lines().collect();
    let early = (1..lines.len()).filter(|&at| {
        lines[at].contains("device.arrive ") && lines[at - 1].contains("device.wait ")
    });
    mutants.extend(early.map(|at| {
        let mut all = lines.clone();
        all.swap(at - 1, at);
        (format!("{at}: {} comes first", lines[at].trim()), all.join("\n"))
    }));
    mutants
});
/// What rTasks of a cluster do together: no barrier, one of a block alone, no cluster, and one of other rTasks.
pub const CLUSTERS: Kind = ("let rTasks of a cluster be alone", |text| {
    edited(text, |line| {
        let barrier = line.contains("device.barrier \"cluster\"");
        let core = barrier.then(|| line.replace("cluster", "core"));
        let nothing = barrier.then(String::new);
        let cluster =
            |to: &str| line.contains(" cluster [").then(|| line.replace(" cluster [2, 2]", to));
        let all = [core, nothing, cluster(""), cluster(" cluster [2, 1]")];
        all.into_iter().flatten().collect()
    })
});
pub const SWIZZLES: Kind = ("swizzle otherwise", |text| {
    edited(text, |line| {
        let swizzled = line.contains("device.alloc swizzle [3, ");
        swizzled.then(|| line.replace("swizzle [3, ", "swizzle [2, ")).into_iter().collect()
    })
});

/// Moves by which lanes gather pieces of others: rows for columns.
pub const GATHERS: Kind = ("gather the other way", |text| {
    edited(text, |line| {
        let plain =
            line.contains("@matrix_load ").then_some(("@matrix_load ", "@matrix_load_turned "));
        let turned = || ("@matrix_load_turned ", "@matrix_load ");
        let other = plain.or_else(|| line.contains("@matrix_load_turned ").then(turned));
        other.map(|(from, to)| line.replace(from, to)).into_iter().collect()
    })
});

/// A line whose first size of several is half as many.
fn halved(line: &str, word: &str) -> Option<String> {
    let moves = line.contains("device.transfer ");
    let (before, rest) = line.split_once(word).filter(|_| moves)?;
    let (sizes, after) = rest.split_once(']')?;
    let mut sizes: Vec<u64> = sizes.split(", ").filter_map(|size| size.parse().ok()).collect();
    let most = sizes.iter_mut().max()?;
    *most /= 2;
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    Some(format!("{before}{word}{}]{after}", sizes.join(", ")))
}

fn carried(text: &str) -> Vec<Mutant> {
    let mut around: Vec<Vec<String>> = Vec::new();
    let mut given = Vec::new();
    // What a loop carries, by the line that ends its round.
    for line in text.lines() {
        if line.contains("scf.for ") {
            let args = line.split_once("iter_args(").map_or("", |(_, rest)| rest);
            let args = args.split(')').next().unwrap_or("").split(", ");
            let name = |arg: &str| arg.split(" = ").next().unwrap_or("").to_owned();
            around.push(args.map(name).collect());
        }
        let yields = line.trim_start().starts_with("scf.yield") && line.contains("!device.token");
        given.push(if yields { around.pop().unwrap_or_default() } else { Vec::new() });
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut mutants = Vec::new();
    for (at, args) in given.iter().enumerate() {
        let Some((values, ty)) = lines[at].split_once(" : ").filter(|_| !args.is_empty()) else {
            continue;
        };
        let values = values.trim_start().trim_start_matches("scf.yield ");
        let mut values: Vec<&str> = values.split(", ").collect();
        let last = values.len() - 1;
        values[last] = &args[last];
        let changed = format!("scf.yield {} : {ty}", values.join(", "));
        let mut all = lines.clone();
        all[at] = &changed;
        mutants.push((format!("{at}: {}  ->  {changed}", lines[at].trim()), all.join("\n")));
    }
    mutants
}
