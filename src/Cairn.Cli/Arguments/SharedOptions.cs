namespace Cairn.Cli.Arguments;

/// <summary>The options that have the same meaning in all commands. Each invocation has its own instance.</summary>
internal sealed class SharedOptions
{
    public const string StoreVariable = "CAIRN_STORE";
    public const string PasswordVariable = "CAIRN_PASSWORD";

    public Option<string?> Store { get; } = new("--store")
    {
        HelpName = "FILE",
        Description = $"The store's file. Default: the environment variable {StoreVariable}.",
        Recursive = true,
    };

    public Option<string?> KeyFile { get; } = new("--key-file")
    {
        HelpName = "FILE",
        Description = "The key of an encrypted store: 32 bytes, or their 64 hexadecimal digits.",
        Recursive = true,
    };

    public Option<string?> PasswordFile { get; } = new("--password-file")
    {
        HelpName = "FILE",
        Description = $"The password of an encrypted store, in the first line. Default: the environment variable {PasswordVariable}.",
        Recursive = true,
    };

    public Flag Json { get; } = new("--json", "Print JSON instead of text, for programs.") { Recursive = true };

    public Flag Help { get; } = HelpFlag();

    public Flag Version { get; } = new("--version", "Print the version.");

    public Option<string?> Collection { get; } = new("--collection")
    {
        HelpName = "NAME",
        Description = "The collection. Default: the default collection, which has no name.",
    };

    public Flag KeyBase64 { get; } = new("--key-base64", "Keys are given in Base64, for keys that are not text.");

    public ValueOption<long> Capacity { get; } = ValueOptions.Size(
        "--capacity", $"Size of the file if it is created. Default {Output.Figures.Bytes(DefaultCapacityBytes)}.");

    /// <summary>Gets the capacity of a store that is created without one: the library's default.</summary>
    public static long DefaultCapacityBytes { get; } = new StoreOptions { Path = "-" }.CapacityBytes;

    private static Flag HelpFlag()
    {
        var help = new Flag("--help", "Print this help.") { Recursive = true };
        help.Aliases.Add("-h");
        return help;
    }
}
