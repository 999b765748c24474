using Cairn.Server;

namespace Cairn.Cli.Serving;

/// <summary>Parses a text and changes the options. Returns false if the text has the wrong form.</summary>
internal delegate bool SettingReader(string text, ref ServerOptions options);

/// <summary>
/// A setting of a server, which can come from an option of the command line, an environment variable or a file. All three have the same
/// name in their own spelling (--max-value, CAIRN_MAX_VALUE, "max-value"), and take the same text.
/// </summary>
internal sealed class ServeSetting
{
    /// <summary>The prefix of the names of all environment variables.</summary>
    public const string VariablePrefix = "CAIRN_";

    private readonly SettingReader _reader;

    public ServeSetting(
        string name, string? placeholder, string description, string form, SettingReader reader, params ReadOnlySpan<string> aliases)
    {
        Name = name;
        Form = form;
        _reader = reader;
        Option = new Option<string?>("--" + name)
        {
            Description = description,
            HelpName = placeholder,
            Arity = placeholder is null ? ArgumentArity.ZeroOrOne : ArgumentArity.ExactlyOne,
        };
        foreach (string alias in aliases)
        {
            Option.Aliases.Add(alias);
        }
    }

    public string Name { get; }

    /// <summary>Gets or sets the heading of the setting in the help.</summary>
    public string Group { get; set; } = "";

    /// <summary>Gets a description of the valid form, for error messages.</summary>
    public string Form { get; }

    public Option<string?> Option { get; }

    /// <summary>Gets the option's name in messages, with its letter: --max-value (-I).</summary>
    public string Title => Option.Aliases.FirstOrDefault(alias => alias.Length == 2) is { } letter ? $"--{Name} ({letter})" : $"--{Name}";

    /// <summary>Gets the name of the environment variable: CAIRN_MAX_VALUE for max-value.</summary>
    public string Variable => VariablePrefix + Name.ToUpperInvariant().Replace('-', '_');

    /// <summary>Applies the setting.</summary>
    /// <param name="text">The text of the value.</param>
    /// <param name="where">The source of the text, for the error message.</param>
    /// <param name="options">The options to change.</param>
    /// <exception cref="ToolException">The text has another form.</exception>
    public void Apply(string text, string where, ref ServerOptions options)
    {
        if (!_reader(text, ref options))
        {
            throw ToolException.Usage($"{where} takes {Form}, not '{text}'");
        }
    }
}
