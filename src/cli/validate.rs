//! `covergence validate`.
pub async fn run(_: &super::args::ValidateArgs) -> Result<u8, super::error::CliError> {
    Ok(0)
}
