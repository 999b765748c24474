using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;

namespace Cairn.Caching.Protobuf.Contracts;

/// <summary>Writes contracts as a schema in the language of protoc.</summary>
[RequiresUnreferencedCode("Contracts are found by looking at types at run time.")]
[RequiresDynamicCode("Contracts are found by looking at types at run time.")]
internal static class SchemaWriter
{
    private static readonly Dictionary<string, string> OwnMessages = new(StringComparer.Ordinal)
    {
        ["bcl.Guid"] = "message Guid {\n  fixed64 lo = 1; // the first 8 bytes, little-endian\n  fixed64 hi = 2; // the last 8 bytes\n}\n",
        ["bcl.Decimal"] = "message Decimal {\n  uint64 lo = 1;\n  uint32 hi = 2;\n  uint32 signScale = 3; // decimal places * 2 + sign\n}\n",
        ["bcl.DateTime"] = "message DateTime {\n  sint64 value = 1; // since 1970-01-01\n  uint32 scale = 2; // days, hours, minutes, seconds, milliseconds, ticks; 15: first or last moment\n  uint32 kind = 3; // unspecified, UTC, local\n}\n",
        ["bcl.TimeSpan"] = "message TimeSpan {\n  sint64 value = 1;\n  uint32 scale = 2; // days, hours, minutes, seconds, milliseconds, ticks\n}\n",
        ["cairn.DateTimeOffset"] = "message DateTimeOffset {\n  sint64 value = 1; // since 1970-01-01 by the clock on the wall\n  uint32 scale = 2; // days, hours, minutes, seconds, milliseconds, ticks; 15: first or last moment\n  sint64 offsetMinutes = 4;\n}\n",
    };

    public static string Write(ContractDescription root)
    {
        var text = new StringBuilder("syntax = \"proto3\";\n");
        var messages = new List<ContractDescription>();
        var enumerations = new List<Type>();
        var own = new SortedSet<string>(StringComparer.Ordinal);
        var imports = new SortedSet<string>(StringComparer.Ordinal);
        Reach(root, messages, enumerations, own, imports);
        foreach (string import in imports)
        {
            text.Append(CultureInfo.InvariantCulture, $"import \"google/protobuf/{import}.proto\";\n");
        }

        foreach (ContractDescription message in messages)
        {
            text.Append(CultureInfo.InvariantCulture, $"\nmessage {NameOf(message.Type)} {{\n");
            foreach (MemberDescription member in message.Members)
            {
                text.Append(CultureInfo.InvariantCulture, $"  {TypeOf(member)}{member.Name} = {member.Number};\n");
            }

            text.Append("}\n");
        }

        foreach (Type enumeration in enumerations)
        {
            AppendEnumeration(text, enumeration);
        }

        foreach (string name in own)
        {
            text.Append('\n').Append(OwnMessages[name]);
        }

        return text.ToString();
    }

    private static void Reach(
        ContractDescription description, List<ContractDescription> messages, List<Type> enumerations, SortedSet<string> own, SortedSet<string> imports)
    {
        if (messages.Any(message => message.Type == description.Type))
        {
            return;
        }

        messages.Add(description);
        foreach (ValueDescription value in description.Members.SelectMany(member => new[] { member.Key, member.Value }).OfType<ValueDescription>())
        {
            if (value.Scalar is null)
            {
                Reach(ContractReader.Read(value.Type), messages, enumerations, own, imports);
            }
            else if (value.Type.IsEnum && !enumerations.Contains(value.Type))
            {
                enumerations.Add(value.Type);
            }
            else if (OwnMessages.ContainsKey(value.Scalar.Name))
            {
                own.Add(value.Scalar.Name);
            }
            else if (value.Scalar.Name.StartsWith("google.protobuf.", StringComparison.Ordinal))
            {
                imports.Add(value.Scalar.Name["google.protobuf.".Length..].ToLowerInvariant());
            }
        }
    }

    private static string TypeOf(MemberDescription member) => member.Kind switch
    {
        MemberKind.Map => $"map<{NameOf(member.Key!)}, {NameOf(member.Value)}> ",
        MemberKind.Repeated => $"repeated {NameOf(member.Value)} ",
        MemberKind.Scalar when member.IsNullable || !member.Value.Type.IsValueType => $"optional {NameOf(member.Value)} ",
        _ => $"{NameOf(member.Value)} ",
    };

    private static string NameOf(ValueDescription value) =>
        value.Scalar is null || value.Type.IsEnum ? NameOf(value.Type)
        : OwnMessages.ContainsKey(value.Scalar.Name) ? value.Scalar.Name[(value.Scalar.Name.IndexOf('.', StringComparison.Ordinal) + 1)..]
        : value.Scalar.Name;

    private static string NameOf(Type type) => type.IsGenericType
        ? string.Join('_', type.GetGenericArguments().Select(NameOf).Prepend(type.Name[..type.Name.IndexOf('`', StringComparison.Ordinal)]))
        : type.Name;

    private static void AppendEnumeration(StringBuilder text, Type enumeration)
    {
        string name = NameOf(enumeration);
        (string Name, long Value)[] values =
        [
            .. Enum.GetNames(enumeration).Select(each => (each, Convert.ToInt64(Enum.Parse(enumeration, each), CultureInfo.InvariantCulture))).OrderBy(each => each.Item2 != 0),
        ];
        text.Append(CultureInfo.InvariantCulture, $"\nenum {name} {{\n");
        if (values.Length != values.DistinctBy(value => value.Value).Count())
        {
            text.Append("  option allow_alias = true;\n");
        }

        // The first value of an enumeration must be zero.
        if (values.Length == 0 || values[0].Value != 0)
        {
            text.Append(CultureInfo.InvariantCulture, $"  {name}_0 = 0;\n");
        }

        foreach ((string value, long number) in values)
        {
            text.Append(CultureInfo.InvariantCulture, $"  {name}_{value} = {number};\n");
        }

        text.Append("}\n");
    }
}
