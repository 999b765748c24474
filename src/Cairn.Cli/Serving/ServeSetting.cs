using System.CommandLine;
using Cairn.Server;

namespace Cairn.Cli.Serving;

/// <summary>Changes the options as a text asks for; false if the text has another form.</summary>
internal delegate bool SettingReader(string text, ref ServerOptions options);

/// <summary>
/// Something about a server that can be set: by an option of the command line, by an environment variable, or in a file. All three have the
/// same name in their own spelling (--max-value, CAIRN_MAX_VALUE, "max-value") and take the same text.
/// </summary>
internal sealed class ServeSetting
{
    /// <summary>What the names of all environment variables begin with.</summary>
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

        IsSwitch = placeholder is null;
    }

    public string Name { get; }

    /// <summary>What it takes, for the error when it gets something else.</summary>
    public string Form { get; }

    public Option<string?> Option { get; }

    /// <summary>On or off; on the command line its name alone is on.</summary>
    public bool IsSwitch { get; }

    /// <summary>The option as messages name it, with its letter: --max-value (-I).</summary>
    public string Title => Option.Aliases.Count == 0 ? $"--{Name}" : $"--{Name} ({string.Join(", ", Option.Aliases)})";

    /// <summary>The environment variable: CAIRN_MAX_VALUE for max-value.</summary>
    public string Variable => VariablePrefix + Name.ToUpperInvariant().Replace('-', '_');

    /// <summary>Sets it.</summary>
    /// <param name="text">What was written.</param>
    /// <param name="where">Where it was written, for the error.</param>
    /// <param name="options">What it is set in.</param>
    /// <exception cref="ToolException">The text has another form.</exception>
    public void Apply(string text, string where, ref ServerOptions options)
    {
        if (!_reader(text, ref options))
        {
            throw ToolException.Usage($"{where} takes {Form}, not '{text}'");
        }
    }
}
