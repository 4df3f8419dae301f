//! `covergence render`.
pub async fn run(_: &super::args::RenderArgs) -> Result<u8, super::error::CliError> {
    Ok(0)
}
