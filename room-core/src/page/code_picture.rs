//! Draws the code for a place as a QR code, by which the other device finds the page and has the
//! code without typing.
//!
//! It holds the address of the page without its query, and the code behind `#place=`. Browsers send
//! no fragment, so neither a server nor a log sees the code.

use std::fmt::Write;

use qrcodegen_no_heap::{DataTooLong, QrCode, QrCodeEcc, Version};

use crate::ticket::place_code::PlaceCode;

/// The largest version that is drawn: 41 modules a side, for texts of up to 134 bytes.
const LARGEST: Version = Version::new(6);
/// What the largest one takes, in bytes.
const BYTES: usize = LARGEST.buffer_len();
/// The light margin that readers need on each side, in modules.
const MARGIN: i32 = 4;

/// Draws the code for the page at `address`, as SVG; "" where the address is too long.
///
/// Each row is a line along its middle, so the box begins half a module above the margin.
pub(super) fn picture(address: &str, code: PlaceCode) -> String {
    let page = address.split(['?', '#']).next().unwrap_or_default();
    let mut modules = [0; BYTES];
    let Ok(drawn) = encoded(&format!("{page}#place={code}"), &mut modules) else {
        return String::new();
    };
    let side = drawn.size() + 2 * MARGIN;
    let mut svg = format!(
        "<svg viewBox=\"-{MARGIN} -{MARGIN}.5 {side} {side}\" shape-rendering=\"crispEdges\">\
         <path fill=\"#fff\" d=\"M-{MARGIN}-{MARGIN}.5h{side}v{side}H-{MARGIN}z\"/>\
         <path stroke=\"#000\" d=\""
    );
    for y in 0..drawn.size() {
        let row: Vec<bool> = (0..drawn.size()).map(|x| drawn.get_module(x, y)).collect();
        // Writing to a string cannot fail.
        let _ = write!(svg, "M0 {y}");
        for run in row.chunk_by(PartialEq::eq) {
            let length = run.len();
            let is_dark = run.first() == Some(&true);
            let _ = if is_dark { write!(svg, "h{length}") } else { write!(svg, "m{length} 0") };
        }
    }
    svg.push_str("\"/></svg>");
    svg
}

/// Encodes a text, with as much correction of errors as the smallest version has room for.
fn encoded<'m>(text: &str, modules: &'m mut [u8; BYTES]) -> Result<QrCode<'m>, DataTooLong> {
    let (least, smallest) = (QrCodeEcc::Low, Version::MIN);
    let mut bytes = [0; BYTES];
    let start = bytes.get_mut(..text.len()).ok_or(DataTooLong::SegmentTooLong)?;
    start.copy_from_slice(text.as_bytes());
    QrCode::encode_binary(&mut bytes, text.len(), modules, least, smallest, LARGEST, None, true)
}

#[cfg(test)]
mod tests {
    use super::{BYTES, encoded, picture};
    use crate::ticket::place_code::PlaceCode;

    const ADDRESS: &str = "https://shop.example/tickets";
    /// Before the host and behind the path.
    const AROUND_BYTES: usize = "https://#place=1234-561A".len();
    const TEXT_BYTES_MAX: usize = 134;

    fn code() -> PlaceCode {
        PlaceCode::from_bytes([0x08, 0x86, 0x42, 0x98, 0x2a])
    }

    /// Reads the modules of a picture, row by row.
    fn modules(svg: &str) -> Vec<Vec<bool>> {
        let (_, path) = svg.split_once("stroke=\"#000\" d=\"").unwrap();
        let (path, _) = path.split_once('"').unwrap();
        let row = |runs: &str| {
            let mut row = Vec::new();
            let moves = runs.trim_start_matches(|digit: char| digit.is_ascii_digit());
            for run in moves.split_inclusive(['h', 'm']).collect::<Vec<_>>().windows(2) {
                let length = run[1].trim_end_matches(['h', 'm']).trim_end_matches(" 0");
                row.extend(vec![run[0].ends_with('h'); length.parse().unwrap()]);
            }
            row
        };
        path.split("M0 ").skip(1).map(row).collect()
    }

    #[test]
    fn the_picture_holds_the_address_and_behind_it_the_code() {
        let svg = picture(&format!("{ADDRESS}?seat=7"), code());
        let mut bytes = [0; BYTES];
        let want = encoded(&format!("{ADDRESS}#place=1234-561A"), &mut bytes).unwrap();
        let drawn = modules(&svg);
        let rows = 0..want.size();
        let modules_of = |y| rows.clone().map(|x| want.get_module(x, y)).collect::<Vec<_>>();
        assert_eq!(drawn, rows.clone().map(modules_of).collect::<Vec<_>>());
        assert!(svg.starts_with("<svg viewBox=\"-4 -4.5 37 37\""), "{svg}");
        assert!(svg.len() < 2_000, "{} bytes", svg.len());
    }

    #[test]
    fn an_address_that_is_too_long_for_a_small_picture_has_none() {
        let of_host = |bytes: usize| picture(&format!("https://{}", "a".repeat(bytes)), code());
        let longest = of_host(TEXT_BYTES_MAX - AROUND_BYTES);
        assert_eq!(modules(&longest).len(), 41);
        assert!(longest.len() < 3_500, "{} bytes", longest.len());
        assert_eq!(of_host(TEXT_BYTES_MAX - AROUND_BYTES + 1), "");
    }
}
