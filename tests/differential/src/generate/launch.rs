//! What a parent launches: kernels with random parameters, grids and blocks, into all streams.
//!
//! Each launch has a slot of the output to itself, so that those that may run at once share nothing. Several
//! launches of one slot are ordered by what CUDA promises: one stream, an event, or the tail stream.

use std::fmt::Write as _;

use super::Maker;

/// Words of a launch's slot: the threads of its grid are at most as many.
pub const SLOT_WORDS: usize = 64;

/// Most launches of a program.
pub const SLOTS: usize = 5;

/// Where a launch goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// `<<<grid, block>>>`
    None,
    /// The NULL stream, said.
    Null,
    /// `cudaStreamPerThread`
    PerThread,
    /// `cudaStreamFireAndForget`
    FireAndForget,
    /// `cudaStreamTailLaunch`
    Tail,
    /// One that the thread creates and destroys.
    Created,
    /// Two that are created, the second of which waits for the first by an event.
    Event,
    /// Every thread launches one of as many threads as it likes, fire-and-forget.
    EachForget,
    /// The same without a stream, each after the one before.
    EachInOrder,
}

impl Stream {
    /// All of them.
    pub const ALL: [Stream; 9] = [
        Stream::None,
        Stream::Null,
        Stream::PerThread,
        Stream::FireAndForget,
        Stream::Tail,
        Stream::Created,
        Stream::Event,
        Stream::EachForget,
        Stream::EachInOrder,
    ];

    /// Whether the entry points of CUDA 11 take it.
    pub fn is_old(self) -> bool {
        !matches!(self, Stream::FireAndForget | Stream::Tail | Stream::EachForget)
    }

    /// Whether all threads of the parent launch.
    fn is_of_each(self) -> bool {
        matches!(self, Stream::EachForget | Stream::EachInOrder)
    }

    /// The launch's last argument, of the first stream and of the second.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Stream::None | Stream::Null | Stream::EachInOrder => ("0", "0"),
            Stream::PerThread => ("cudaStreamPerThread", "cudaStreamPerThread"),
            Stream::FireAndForget | Stream::EachForget => {
                ("cudaStreamFireAndForget", "cudaStreamFireAndForget")
            }
            Stream::Tail => ("cudaStreamTailLaunch", "cudaStreamTailLaunch"),
            Stream::Created => ("one", "one"),
            Stream::Event => ("one", "two"),
        }
    }
}

/// A kernel, with what it needs before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    pub(crate) head: String,
    /// Each of these can be left out.
    pub parts: Vec<String>,
    pub(crate) tail: String,
}

impl Kernel {
    pub(crate) fn text(&self) -> String {
        let Kernel { head, parts, tail } = self;
        let parts: String = parts.iter().map(|part| format!("    {}\n", part.trim())).collect();
        format!("{head}{parts}{tail}")
    }
}

/// One launch, or several of one kernel in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Where it goes.
    pub stream: Stream,
    /// Its place in the output.
    pub slot: usize,
    /// The kernel; none for the first launch, whose kernel runs the statements.
    pub kernel: Option<Kernel>,
    /// `(type, value)` of the parameters behind the address.
    parameters: Vec<(String, String)>,
    /// Where the kernel's first thread sends a kernel of its own, with the same parameters.
    then: Option<Stream>,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    /// How often in a row.
    turns: u32,
    /// The thread that launches.
    thread: u32,
}

/// Types of parameters, beside a program's records.
const TYPES: [&str; 14] = [
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long long",
    "word",
    "bool",
    "float",
    "double",
    "struct Pair",
    "struct Bits",
    "struct Three",
];

impl Maker {
    /// The kernel of the statements, and a few more in an order of their own.
    pub(super) fn launches(&mut self) -> Vec<Launch> {
        let count = 1 + self.random.below(SLOTS);
        (0..count).map(|slot| self.launch(slot)).collect()
    }

    fn launch(&mut self, slot: usize) -> Launch {
        let of_one: &[Stream] = &Stream::ALL[..7];
        let stream = *self.random.of(if slot == 0 { of_one } else { &Stream::ALL });
        let thread = if slot == 0 { 0 } else { *self.random.of(&[0, 0, 7, 31]) };
        if slot == 0 {
            let (grid, block) = ([1; 3], [32, 1, 1]);
            let parameters = Vec::new();
            return Launch {
                stream,
                slot,
                kernel: None,
                parameters,
                then: None,
                grid,
                block,
                shared_bytes: 0,
                turns: 1,
                thread,
            };
        }
        let block = [1 + self.random.below(8), 1 + self.random.below(2), 1 + self.random.below(2)];
        let grid = [1 + self.random.below(2), 1, 1];
        let mut grid = grid.map(|blocks| blocks as u32);
        grid.swap(0, self.random.below(3));
        if stream.is_of_each() {
            return self.of_each(stream, slot);
        }
        // Those that nothing orders are one.
        let again = if stream == Stream::FireAndForget { 1 } else { 3 };
        let turns = 1 + self.random.below(again) as u32;
        if self.random.below(3) > 0 {
            return self.of_loops(stream, slot, turns, thread);
        }
        let parameters = (0..self.random.below(7)).map(|_| self.parameter()).collect();
        let nested = [Stream::None, Stream::FireAndForget, Stream::Tail, Stream::PerThread];
        let then = (self.random.below(3) == 0).then(|| *self.random.of(&nested));
        let mut launch = Launch {
            stream,
            slot,
            kernel: None,
            parameters,
            then,
            grid,
            block: block.map(|threads| threads as u32),
            shared_bytes: 0,
            turns,
            thread,
        };
        let uses_shared = self.random.below(3) == 0;
        if uses_shared && stream != Stream::None {
            launch.shared_bytes = 4 * launch.block.iter().product::<u32>();
        }
        launch.kernel = Some(Kernel {
            head: launch.kernel_text(self.seed),
            parts: Vec::new(),
            tail: String::new(),
        });
        launch
    }

    /// A kernel with rounds of a block, or one that goes through arrays.
    fn of_loops(&mut self, stream: Stream, slot: usize, turns: u32, thread: u32) -> Launch {
        let ((block, blocks, kernel), numbers) = match self.random.below(2) {
            0 => (self.block_kernel(slot), [1, 2, 3, 5]),
            _ => {
                let (threads, kernel) = self.array_kernel(slot);
                (([threads, 1, 1], 1, kernel), [256, 200, 131, 5])
            }
        };
        let salt = format!("{}u + (unsigned)turn", self.random.below(1000));
        let number = self.random.of(&numbers).to_string();
        Launch {
            stream,
            slot,
            kernel: Some(kernel),
            parameters: vec![("unsigned".into(), salt), ("int".into(), number)],
            then: None,
            grid: [blocks, 1, 1],
            block,
            shared_bytes: 0,
            turns,
            thread,
        }
    }

    /// What the launch optimiser looks for: a guarded child of a few threads for each thread of the parent.
    fn of_each(&mut self, stream: Stream, slot: usize) -> Launch {
        let block = *self.random.of(&[4, 16, 32, 64]);
        // nvcc and `cdpc` without the optimiser pass over it.
        let pragma = *self.random.of(&[
            "",
            "",
            "#pragma cdp threshold(1)\n",
            "#pragma cdp threshold(1000)\n",
            "#pragma cdp independent\n",
        ]);
        let (step, most) = (1 + self.random.below(7), 1 + self.random.below(90));
        let body = *self.random.of(&[
            "atomicAdd(&mine[i & 1], (word)i * salt + 1);",
            "atomicAdd(&mine[0], salt ^ (word)(i * i)); atomicMax(&mine[1], (word)i);",
            "word x = salt; for (int k = 0; k < i % 5; k++) x = x * 31u + k; atomicAdd(&mine[i % 2], x);",
            "if (i == n - 1) mine[0] = salt + n; if (i == 0) mine[1] ^= 5 + (word)blockDim.x;",
        ]);
        let kernel = format!(
            "__global__ void step_{}_{slot}(word *mine, int n, word salt)\n{{\n    \
             int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) {{\n        {body}\n    }}\n}}\n",
            self.seed
        );
        let each = format!(
            "        int n = (int)(threadIdx.x * {step} % {most});\n{pragma}        if (n > 0) {{\n            \
             step_{}_{slot}<<<(n + {}) / {block}, {block}",
            self.seed,
            block - 1
        );
        Launch {
            stream,
            slot,
            kernel: Some(Kernel { head: kernel, parts: Vec::new(), tail: String::new() }),
            parameters: vec![("each".into(), each)],
            then: None,
            grid: [1; 3],
            block: [block as u32, 1, 1],
            shared_bytes: 0,
            turns: 1,
            thread: 0,
        }
    }

    fn parameter(&mut self) -> (String, String) {
        if self.random.below(5) == 0 {
            let name = &self.records[self.random.below(2)].name;
            return (name.clone(), format!("turned(known_{name}, (unsigned)turn)"));
        }
        let ty = *self.random.of(&TYPES);
        let number = self.random.below(300) as i64 - 150;
        let value = match ty {
            "struct Pair" => "pair".into(),
            "struct Bits" => "bits".into(),
            "struct Three" => "three".into(),
            "float" | "double" => format!("({ty})({number} * 0.125 + turn)"),
            _ => format!("({ty})({number} + turn + (int)threadIdx.x)"),
        };
        (ty.to_owned(), value)
    }
}

impl Launch {
    /// Whether the entry points of CUDA 11 take its streams.
    pub(super) fn has_old_streams_only(&self) -> bool {
        self.stream.is_old() && self.then.is_none_or(Stream::is_old)
    }

    /// The kernel's definition, after that of the one that it launches: what was there, mixed with the parameters and
    /// the thread's place.
    fn kernel_text(&self, seed: u64) -> String {
        let mut parameters = String::from("(word *out");
        for (index, (ty, _)) in self.parameters.iter().enumerate() {
            let _ = write!(parameters, ", {ty} p{index}");
        }
        let slot = self.slot;
        let mut text = String::new();
        if self.then.is_some() {
            let _ = write!(
                text,
                "__global__ void then_{seed}_{slot}{parameters}, word mix)\n{{\n{}    *out += mix * 3u + blockDim.x;\n}}\n",
                self.mixed_parameters()
            );
        }
        let _ = write!(text, "__global__ void step_{seed}_{slot}{parameters})\n{{\n");
        text += "    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;\n";
        text += "    unsigned size = blockDim.x * blockDim.y * blockDim.z;\n";
        text += "    unsigned mine = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n";
        text += "    word mix = block * 97ull + mine;\n";
        text += &self.mixed_parameters();
        if self.shared_bytes > 0 {
            text +=
                "    extern __shared__ unsigned dynamic[];\n    dynamic[mine] = (unsigned)mix;\n";
            text += "    __syncthreads();\n    mix += dynamic[(mine + 1) % size];\n";
        }
        text +=
            "    out[block * size + mine] = out[block * size + mine] * 1099511628211ull + mix;\n";
        if let Some(stream) = self.then {
            let arguments: String =
                (0..self.parameters.len()).map(|index| format!(", p{index}")).collect();
            let configuration = match stream {
                Stream::None => String::new(),
                _ => format!(", 0, {}", stream.names().0),
            };
            let _ = writeln!(
                text,
                "    if (block == 0 && mine == 0) then_{seed}_{slot}<<<1, 1{configuration}>>>(out{arguments}, mix);"
            );
        }
        text + "}\n"
    }

    /// Statements that mix the parameters into `mix`.
    fn mixed_parameters(&self) -> String {
        let mut text = String::new();
        for (index, (ty, _)) in self.parameters.iter().enumerate() {
            let value = match ty.as_str() {
                "float" | "double" => format!("bits_of(p{index})"),
                "struct Pair" => {
                    format!("(word)p{index}.first + bits_of(p{index}.second) + p{index}.third")
                }
                "struct Bits" => {
                    format!(
                        "(word)p{index}.a + p{index}.b * 3ull + p{index}.c + p{index}.d + p{index}.e + p{index}.f"
                    )
                }
                "struct Three" => {
                    format!("p{index}.bytes[0] + p{index}.bytes[1] * 5ull + p{index}.bytes[2]")
                }
                record if record.starts_with('S') => format!("sum(p{index})"),
                _ => format!("(word)p{index}"),
            };
            let _ = writeln!(text, "    mix = mix * 31u + ({value});");
        }
        text
    }

    /// The statement in the parent.
    pub(crate) fn text(&self, seed: u64, first_slot: usize) -> String {
        if let (true, [(_, each)]) = (self.stream.is_of_each(), &self.parameters[..]) {
            let place = first_slot + self.slot * SLOT_WORDS;
            let stream = match self.stream {
                Stream::EachForget => ", 0, cudaStreamFireAndForget",
                _ => "",
            };
            return format!(
                "    {{\n{each}{stream}>>>(out + {place} + threadIdx.x * 2, n, threadIdx.x * 77ull);\n        }}\n    }}\n"
            );
        }
        let mut text = format!("    if (threadIdx.x == {}) {{\n", self.thread);
        let created = matches!(self.stream, Stream::Created | Stream::Event);
        for name in ["one", "two"].into_iter().take(if created { 2 } else { 0 }) {
            let _ = writeln!(
                text,
                "        cudaStream_t {name};\n        cudaStreamCreateWithFlags(&{name}, cudaStreamNonBlocking);"
            );
        }
        let (first, second) = self.stream.names();
        let _ = writeln!(
            text,
            "        for (int turn = 0; turn < {}; turn++)\n            {};",
            self.turns,
            self.call(seed, first_slot, first)
        );
        if self.stream == Stream::Event && self.kernel.is_some() {
            text += "        cudaEvent_t event;\n        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);\n";
            text += "        cudaEventRecord(event, one);\n        cudaStreamWaitEvent(two, event, 0);\n        int turn = 9;\n";
            let _ = writeln!(text, "        {};", self.call(seed, first_slot, second));
            text += "        cudaEventDestroy(event);\n";
        }
        if created {
            text += "        cudaStreamDestroy(one);\n        cudaStreamDestroy(two);\n";
        }
        text += "    }\n";
        text
    }

    fn call(&self, seed: u64, first_slot: usize, stream: &str) -> String {
        if self.kernel.is_none() {
            let name = format!("child_{seed}");
            return match self.stream {
                Stream::None => format!("{name}<<<1, 32>>>(out, -3, 2.5, pair)"),
                _ => format!("{name}<<<1, 32, 0, {stream}>>>(out, -3, 2.5, pair)"),
            };
        }
        let three = |of: [u32; 3]| format!("dim3({}, {}, {})", of[0], of[1], of[2]);
        let mut text =
            format!("step_{seed}_{}<<<{}, {}", self.slot, three(self.grid), three(self.block));
        match self.stream {
            Stream::None => {}
            _ => {
                let _ = write!(text, ", {}, {stream}", self.shared_bytes);
            }
        }
        let place = first_slot + self.slot * SLOT_WORDS;
        let _ = write!(text, ">>>(out + {place}");
        for (_, value) in &self.parameters {
            let _ = write!(text, ", {value}");
        }
        text + ")"
    }
}
