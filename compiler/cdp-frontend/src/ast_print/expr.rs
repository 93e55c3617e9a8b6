//! Expressions as text.

use super::Printer;
use crate::ast::*;

impl Printer<'_> {
    pub(super) fn exprs(&self, exprs: &[Expr]) -> String {
        let texts: Vec<String> = exprs.iter().map(|expr| self.expr(expr)).collect();
        texts.join(", ")
    }

    pub(super) fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Error => "<error>".to_owned(),
            ExprKind::Int(value) => int_text(value),
            ExprKind::Float(value) => {
                let suffix = match value.suffix {
                    FloatSuffix::None => "",
                    FloatSuffix::F => "f",
                    FloatSuffix::L => "L",
                };
                format!("{:?}{suffix}", { value.value })
            }
            ExprKind::Char(value) => format!("'{}'", { value.value }),
            ExprKind::String(text) => format!("{:?}", text.to_text()),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Nullptr => "nullptr".to_owned(),
            ExprKind::Name(name) => self.name(*name).to_owned(),
            ExprKind::Qualified(name) => self.qual(name),
            ExprKind::TemplateName(with) => {
                let types: Vec<String> = with.types.iter().map(|ty| self.type_name(ty)).collect();
                format!("{}<{}>", self.qual(&with.name), types.join(", "))
            }
            ExprKind::Paren(inner) => self.expr(inner),
            ExprKind::Unary(unary) => {
                format!("({} {})", unary.op.text(), self.expr(&unary.operand))
            }
            ExprKind::Postfix(postfix) => {
                let op = if postfix.op == PostfixOp::Inc { "post++" } else { "post--" };
                format!("({op} {})", self.expr(&postfix.operand))
            }
            ExprKind::Binary(binary) => {
                let (lhs, rhs) = (self.expr(&binary.lhs), self.expr(&binary.rhs));
                format!("({} {lhs} {rhs})", binary.op.text())
            }
            ExprKind::Assign(assign) => {
                let (lhs, rhs) = (self.expr(&assign.lhs), self.expr(&assign.rhs));
                format!("({}= {lhs} {rhs})", assign.op.map_or("", BinaryOp::text))
            }
            ExprKind::Comma(sides) => {
                format!("(, {} {})", self.expr(&sides[0]), self.expr(&sides[1]))
            }
            ExprKind::Conditional(whole) => {
                let then = whole.then.as_ref().map_or(String::new(), |then| self.expr(then) + " ");
                let otherwise = self.expr(&whole.otherwise);
                format!("(? {} {then}{otherwise})", self.expr(&whole.condition))
            }
            _ => self.primary(expr),
        }
    }

    pub(super) fn primary(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Call(call) => {
                format!("{}({})", self.expr(&call.callee), self.exprs(&call.args))
            }
            ExprKind::Launch(launch) => format!(
                "{}<<<{}>>>({})",
                self.expr(&launch.kernel),
                self.exprs(&launch.config),
                self.exprs(&launch.args)
            ),
            ExprKind::Index(parts) => {
                format!("{}[{}]", self.expr(&parts[0]), self.expr(&parts[1]))
            }
            ExprKind::Member(access) => {
                let op = if access.arrow { "->" } else { "." };
                format!("{}{op}{}", self.expr(&access.base), self.name(access.member.name))
            }
            ExprKind::Cast(cast) => {
                let operand = self.expr(&cast.operand);
                format!("({:?}Cast {} {operand})", cast.style, self.type_name(&cast.ty))
            }
            ExprKind::Construct(made) => {
                let (open, close) = if made.braces { ("", "") } else { ("(", ")") };
                let args = self.exprs(&made.args);
                format!("new-value {}{open}{args}{close}", self.type_name(&made.ty))
            }
            ExprKind::CompoundLiteral(literal) => {
                format!("({}){}", self.type_name(&literal.ty), self.init_list(&literal.init))
            }
            ExprKind::SizeofExpr(operand) => format!("(sizeof {})", self.expr(operand)),
            ExprKind::SizeofType(ty) => format!("(sizeof-type {})", self.type_name(ty)),
            ExprKind::AlignofExpr(operand) => format!("(alignof {})", self.expr(operand)),
            ExprKind::AlignofType(ty) => format!("(alignof-type {})", self.type_name(ty)),
            ExprKind::Offsetof(of) => {
                format!("(offsetof {} {})", self.type_name(&of.ty), self.designators(&of.path))
            }
            ExprKind::VaArg(arg) => {
                format!("(va-arg {} {})", self.expr(&arg.list), self.type_name(&arg.ty))
            }
            ExprKind::New(parts) => {
                let placement = match parts.placement.as_slice() {
                    [] => String::new(),
                    args => format!(" ({})", self.exprs(args)),
                };
                let init = parts
                    .init
                    .as_ref()
                    .map_or(String::new(), |init| format!(" {}", self.initializer(init)));
                format!("(new{placement} {}{init})", self.type_name(&parts.ty))
            }
            ExprKind::Delete { array, operand } => {
                format!("(delete{} {})", if *array { "[]" } else { "" }, self.expr(operand))
            }
            ExprKind::InitList(list) => self.init_list(list),
            _ => String::new(),
        }
    }

    pub(super) fn designators(&self, path: &[Designator]) -> String {
        path.iter()
            .map(|designator| match designator {
                Designator::Field(field) => format!(".{}", self.name(field.name)),
                Designator::Index(index) => format!("[{}]", self.expr(index)),
            })
            .collect()
    }

    pub(super) fn init_list(&self, list: &InitList) -> String {
        let items: Vec<String> = list
            .items
            .iter()
            .map(|item| match item.designators() {
                [] => self.expr(&item.value),
                path => format!("{} = {}", self.designators(path), self.expr(&item.value)),
            })
            .collect();
        format!("{{{}}}", items.join(", "))
    }
}
fn int_text(value: &IntLit) -> String {
    let size = match value.size {
        IntSuffix::None => "",
        IntSuffix::Long => "l",
        IntSuffix::LongLong => "ll",
        IntSuffix::Size => "z",
    };
    format!("{}{}{size}", { value.value }, if value.unsigned { "u" } else { "" })
}
