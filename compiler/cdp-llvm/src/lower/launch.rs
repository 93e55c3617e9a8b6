//! The IR's launch operation: on the device through [`crate::launch_calls`], on the host through the
//! runtime's `__cdp_launch`.

use cdp_ir::{Callee, Dim, FuncId, Launch, only_computes};
use cdp_launch::{BufferLayout, LayoutError, ParamSize, buffer_layout};
use inkwell::attributes::AttributeLoc;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, IntValue, PointerValue,
};

use super::Unit;
use super::body::{Body, Value};
use crate::error::{Result, bug};
use crate::launch_calls::{LaunchArg, LaunchConfig, LaunchSite, begin_launch, finish_launch};
use crate::{launches, raw};

impl<'ctx> Unit<'_, 'ctx> {
    pub fn launch_site(&self) -> LaunchSite<'_, 'ctx> {
        LaunchSite {
            module: self.llvm,
            abi: self.options.abi,
            address_bits: self.address_bits(),
            per_thread_stream: self.options.per_thread_stream,
            null_error: None,
        }
    }
}

impl<'ctx> Body<'_, '_, 'ctx> {
    /// Evaluation order as in nvcc: configuration, buffer, NULL test, arguments, launch.
    pub fn launch(&mut self, launch: &Launch) -> Result<Value<'ctx>> {
        if !self.unit.on_device() {
            return self.host_launch(launch);
        }
        let layout = self.launch_layout(launch)?;
        if launches::is_on(self.unit.options, self.unit.address_bits())
            && let Callee::Direct(child) = launch.kernel
            && launch.args.iter().all(|arg| only_computes(self.unit.ir, arg))
        {
            return self.launch_call(launch, child);
        }
        let kernel = self.kernel_address(&launch.kernel)?;
        let grid = self.dimension(&launch.grid)?;
        let block = self.dimension(&launch.block)?;
        let shared = self.int_of(&launch.shared_bytes)?;
        let word = self.unit.context.i32_type();
        let shared_bytes = self.builder.build_int_cast_sign_flag(shared, word, false, "")?;
        let stream = self.pointer_of(&launch.stream)?;
        let config = LaunchConfig { kernel, grid, block, shared_bytes, stream };
        let site = self.unit.launch_site();
        let pending = begin_launch(&self.builder, &site, config, &layout)?;
        let mut args = Vec::with_capacity(launch.args.len());
        for arg in &launch.args {
            args.push(match self.value_of(arg)? {
                Value::Scalar(value) => LaunchArg::Value(self.stored(value)?),
                Value::Memory(place) => {
                    LaunchArg::Memory { address: place.address, align: place.align }
                }
                Value::Void => return Err(bug("lower", "a launch argument of type void")),
            });
        }
        finish_launch(&self.builder, &site, pending, &layout, &args)?;
        Ok(Value::Void)
    }

    /// A launch as a call of `@cdp.launch`, which the launch optimiser reads, with what only the front end
    /// knows: the place, the names, the pragmas. Its arguments are evaluated before there is a buffer,
    /// which those that only compute do not show.
    fn launch_call(&mut self, launch: &Launch, child: FuncId) -> Result<Value<'ctx>> {
        let kernel = self.kernel_address(&launch.kernel)?;
        let grid = self.dimension(&launch.grid)?;
        let block = self.dimension(&launch.block)?;
        let shared = self.int_of(&launch.shared_bytes)?;
        let word = self.unit.context.i32_type();
        let shared = self.builder.build_int_cast_sign_flag(shared, word, false, "")?;
        let stream = self.pointer_of(&launch.stream)?;
        let mut operands: Vec<BasicMetadataValueEnum<'ctx>> = vec![kernel.into()];
        operands.extend(
            grid.iter()
                .chain(&block)
                .chain([&shared])
                .map(|&value| BasicMetadataValueEnum::from(value)),
        );
        operands.push(stream.into());
        let mut by_value = Vec::new();
        for (arg, ty) in launch.args.iter().zip(&launch.params) {
            operands.push(match self.value_of(arg)? {
                Value::Scalar(value) => self.stored(value)?.into(),
                Value::Memory(place) => {
                    by_value.push((operands.len() as u32, *ty, place.align));
                    place.address.into()
                }
                Value::Void => return Err(bug("lower", "a launch argument of type void")),
            });
        }
        let ty = word.fn_type(&[], true);
        let function = crate::launch_calls::declare(self.unit.llvm, crate::kernel::LAUNCH, ty);
        let call = self.builder.build_direct_call(function, &operands, "")?;
        for (index, ty, align) in by_value {
            let at = AttributeLoc::Param(index);
            let ty = self.unit.storage_type(ty)?;
            call.add_attribute(at, self.unit.type_attribute("byval", ty));
            call.add_attribute(at, self.unit.attribute_value("align", align.into()));
        }
        self.say_site(call, launch, child);
        Ok(Value::Void)
    }

    fn say_site(&self, call: CallSiteValue<'ctx>, launch: &Launch, child: FuncId) {
        let context = self.unit.context;
        let (ir, loc) = (self.unit.ir, self.loc);
        let file = ir.files.get(loc.file as usize).filter(|_| loc.line > 0);
        let file = file.map(|file| file.path.clone()).unwrap_or_default();
        let mut words = vec![
            file,
            loc.line.to_string(),
            loc.column.to_string(),
            self.function.name.clone(),
            ir.function(child).name.clone(),
        ];
        words.extend(launch.hints.words());
        let nodes: Vec<BasicMetadataValueEnum<'ctx>> =
            words.iter().map(|word| context.metadata_string(word).into()).collect();
        let kind = context.get_kind_id(launches::parent::SITE);
        // Refused for values that are no instructions only.
        let _ = raw::instruction(call).set_metadata(context.metadata_node(&nodes), kind);
    }

    fn launch_layout(&self, launch: &Launch) -> Result<BufferLayout> {
        let sizes: Vec<_> = launch
            .params
            .iter()
            .map(|ty| {
                let layout = self.unit.ir.types.layout(*ty);
                ParamSize { size_bytes: layout.size, align_bytes: layout.align }
            })
            .collect();
        buffer_layout(&sizes).map_err(|error| match error {
            LayoutError::TooLarge { .. } => self.unsupported(error.to_string()),
            LayoutError::BadAlignment { .. } => bug("lower", error.to_string()),
        })
    }

    pub(super) fn kernel_address(&mut self, kernel: &Callee) -> Result<PointerValue<'ctx>> {
        match kernel {
            Callee::Direct(id) => Ok(self.unit.function(*id)?.as_global_value().as_pointer_value()),
            Callee::Indirect(pointer) => self.pointer_of(pointer),
        }
    }

    /// Three 32-bit words.
    pub(super) fn dimension(&mut self, dim: &Dim) -> Result<[IntValue<'ctx>; 3]> {
        match dim {
            Dim::Xyz(axes) => {
                let [x, y, z] = &**axes;
                Ok([self.int_of(x)?, self.int_of(y)?, self.int_of(z)?])
            }
            Dim::Record(value) => {
                let place = self.memory_of(value)?;
                let word = self.unit.context.i32_type();
                let mut axes = [word.const_zero(); 3];
                for (index, axis) in axes.iter_mut().enumerate() {
                    let at = self.place_at(place, 4 * index as u64)?;
                    let loaded = self.builder.build_load(word, at.address, "")?;
                    let BasicValueEnum::IntValue(value) = loaded else {
                        return Err(bug("lower", "a dimension that is no integer"));
                    };
                    *axis = value;
                }
                Ok(axes)
            }
        }
    }
}
