using System.ComponentModel.DataAnnotations;

namespace Bookshop.Settings;

/// <summary>A setting in requests of clients.</summary>
public sealed record SettingInput
{
    [Required, StringLength(100)]
    public string Key { get; set; } = "";

    [Required, StringLength(1_000)]
    public string Value { get; set; } = "";
}
