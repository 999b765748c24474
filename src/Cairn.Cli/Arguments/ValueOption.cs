using System.CommandLine.Parsing;

namespace Cairn.Cli.Arguments;

/// <summary>Parses a value from text. Returns false if the text has another form.</summary>
internal delegate bool ValueParser<T>(string text, out T value);

/// <summary>An option whose value has a certain form. A text of another form is an error that states the form.</summary>
/// <typeparam name="T">The type of the value.</typeparam>
internal sealed class ValueOption<T> : Option<T?>
    where T : struct
{
    public ValueOption(string name, string placeholder, string description, string form, ValueParser<T> parser)
        : base(name)
    {
        Description = description;
        HelpName = placeholder;
        CustomParser = result => Parse(result, name, form, parser);
    }

    private static T? Parse(ArgumentResult result, string name, string form, ValueParser<T> parser)
    {
        string text = result.Tokens[0].Value;
        if (parser(text, out T value))
        {
            return value;
        }

        result.AddError($"{name} takes {form}, not '{text}'");
        return null;
    }
}

/// <summary>Creates options whose kind of value several commands share.</summary>
internal static class ValueOptions
{
    public static ValueOption<TimeSpan> Time(string name, string description) => new(
        name, "DURATION", description, Duration.Form, static (string text, out TimeSpan time) => Duration.TryParse(text, out time));

    public static ValueOption<DateTimeOffset> Moment(string name, string description) => new(
        name, "MOMENT", description, Arguments.Moment.Form, Arguments.Moment.TryParse);

    public static ValueOption<long> Size(string name, string description) => new(
        name, "SIZE", description, ByteSize.Form, static (string text, out long bytes) => ByteSize.TryParse(text, out bytes));

    public static ValueOption<int> Count(string name, string description, int least, int most) => new(
        name,
        "N",
        description,
        string.Create(CultureInfo.InvariantCulture, $"a number from {least:N0} to {most:N0}"),
        (string text, out int count) =>
            int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out count) && count >= least && count <= most);
}
