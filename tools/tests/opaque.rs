//! Kernels that are code already take part in plans by what they promise (N-13).

use std::process::Command;

/// A model of three operators, the second of which is code with a contract.
const MIXED: &str = include_str!("../../lit-tests/journeys/opaque.mlir");

/// What the code does, as a kernel of tiles.
const TURN: &str = r#"tile.kernel @turn {
^bb0(%x: tensor<16x32xf32>, %y: tensor<32x16xf32>):
  %0 = tile.load %x to @spad : tensor<16x32xf32>
  %1 = tile.load %0 to @vreg : tensor<16x32xf32>
  %2 = tile.compute ins(%1) outs(%y) on @valu tiles [#tile.rtile<"dram"[32, 4]>, #tile.rtile<"spad"[32, 4]>, #tile.rtile<"vreg"[1, 1]>] : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<32x16xf32> {
  ^bb0(%a: tensor<16x32xf32>, %b: tensor<32x16xf32>):
    %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<16x32xf32>) outs(%b : tensor<32x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x16xf32>
    tile.yield %4 : tensor<32x16xf32>
  }
  %3 = tile.store %2 from @vreg to %y : tensor<32x16xf32>
  tile.yield %3 : tensor<32x16xf32>
}
"#;

struct Desk(tempfile::TempDir);

impl Desk {
    fn new(text: &str) -> Self {
        let desk = Self(tempfile::tempdir().expect("a folder"));
        desk.write(text);
        desk
    }

    fn write(&self, text: &str) {
        std::fs::write(self.0.path().join("model.mlir"), text).expect("written");
    }

    /// What `weft` prints; what it says where it refuses.
    fn weft(&self, arguments: &str) -> Result<String, String> {
        let output = Command::new(env!("CARGO_BIN_EXE_weft"))
            .args(arguments.split_whitespace())
            .args(["--device", "toy", "--pass-option", "tile-to-task.split-cycles=10"])
            .current_dir(self.0.path())
            .output()
            .expect("weft starts");
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout).expect("text")),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// The program of ranges.
    fn task(&self) -> String {
        self.weft("compile model.mlir --emit task -o -").expect("it compiles")
    }
}

/// How many tokens the ranges of an operator wait for.
fn waits(task: &str, name: &str) -> Vec<usize> {
    let ranges = task.lines().filter(|line| line.contains(&format!("task.range \"{name}\"")));
    let list = |line: &str| {
        let list = line.split("after(").nth(1)?.split(')').next()?;
        Some(list.split(", ").filter(|token| !token.is_empty()).count())
    };
    ranges.map(|line| list(line).expect("a range waits")).collect()
}

/// The model with other code in the place of @turn, from its name to the end.
fn with_turn(turn: &str) -> String {
    let begin = MIXED.rfind("\ndevice.kernel @turn").expect("it is the last kernel");
    format!("{}{turn}", &MIXED[..=begin])
}

#[test]
fn n_13_ranges_wait_for_what_the_contract_says() {
    let desk = Desk::new(MIXED);
    let task = desk.task();
    assert_eq!(waits(&task, "turn"), [1; 4], "{task}");
    assert_eq!(waits(&task, "twice"), [1; 4], "{task}");

    let begin = MIXED.rfind(" contract grid").expect("there is one");
    let end = MIXED.rfind(" cycles 800 {").expect("and its end") + " cycles 800".len();
    desk.write(&format!("{}{}", &MIXED[..begin], &MIXED[end..]));
    let task = desk.task();
    assert_eq!(waits(&task, "turn").iter().max(), Some(&4), "{task}");
    assert!(waits(&task, "twice").iter().max() > Some(&1), "{task}");
}

#[test]
fn n_13_a_plan_of_code_and_rtasks_means_the_same() {
    let desk = Desk::new(&with_turn(TURN));
    desk.weft("simulate model.mlir --json --outputs whole.npz").expect("it runs");
    desk.write(MIXED);
    let report = desk.weft("simulate model.mlir --json --expect whole.npz --rtol 0 --atol 0");
    assert!(report.expect("it runs").contains("\"compared\": true"));
}

#[test]
fn n_13_a_missing_token_is_named() {
    let desk = Desk::new(MIXED);
    let task = desk.task();
    for name in ["turn", "twice"] {
        let line = task.lines().find(|line| line.contains(&format!("\"{name}\" @{name}[1 to 2]")));
        let line = line.expect("a range");
        let (before, after) = line.split_once("after(").expect("it waits");
        let (_, after) = after.split_once(')').expect("for something");
        desk.write(&task.replace(line, &format!("{before}after(){after}")));
        let said = desk.weft("simulate model.mlir").expect_err("it is refused");
        assert!(said.contains(&format!("\"{name}\"[1 to 2]")), "{said}");
        assert!(said.contains("no token orders them"), "{said}");
    }
}

/// The order is proved by the contract; that the code keeps it, the simulator sees.
#[test]
fn n_13_code_that_breaks_its_contract_is_stopped() {
    let other = "%c3 = arith.constant 3 : index\n  %other = arith.subi %c3, %task : index\n  \
                 %row = arith.muli %other, %c4 : index";
    let broken = MIXED.replace("%row = arith.muli %task, %c4 : index", other);
    assert_ne!(broken, MIXED);
    let desk = Desk::new(&broken);
    let said = desk.weft("simulate model.mlir").expect_err("it is stopped");
    assert!(said.contains("@turn"), "{said}");
    assert!(said.contains("which nothing has written"), "{said}");
}
