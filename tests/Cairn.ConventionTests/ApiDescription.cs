using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;

namespace Cairn.ConventionTests;

/// <summary>
/// An assembly's public and protected surface as C#-like lines: one per type, one per member below it, sorted, so that a
/// change of the surface is a change of the text and nothing else is.
/// </summary>
internal static class ApiDescription
{
    private const BindingFlags Declared =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    private static readonly Dictionary<Type, string> Keywords = new()
    {
        [typeof(void)] = "void", [typeof(object)] = "object", [typeof(string)] = "string", [typeof(bool)] = "bool",
        [typeof(char)] = "char", [typeof(byte)] = "byte", [typeof(sbyte)] = "sbyte", [typeof(short)] = "short",
        [typeof(ushort)] = "ushort", [typeof(int)] = "int", [typeof(uint)] = "uint", [typeof(long)] = "long",
        [typeof(ulong)] = "ulong", [typeof(float)] = "float", [typeof(double)] = "double", [typeof(decimal)] = "decimal",
        [typeof(nint)] = "nint", [typeof(nuint)] = "nuint",
    };

    public static IReadOnlyList<string> Of(Assembly assembly)
    {
        var lines = new List<string>();
        foreach (var type in assembly.GetExportedTypes().OrderBy(type => type.FullName, StringComparer.Ordinal))
        {
            lines.Add(DescribeType(type));
            lines.AddRange(DescribeMembers(type).Order(StringComparer.Ordinal).Select(member => "    " + member));
        }

        return lines;
    }

    private static string DescribeType(Type type)
    {
        if (type.IsSubclassOf(typeof(Delegate)))
        {
            var invoke = type.GetMethod("Invoke")!;
            return $"public delegate {Return(invoke)} {Name(type)}({Parameters(invoke)}){Constraints(type.GetGenericArguments())}";
        }

        var text = new StringBuilder();
        if (type.IsDefined(typeof(FlagsAttribute)))
        {
            text.Append("[Flags] ");
        }

        text.Append(type.IsNestedFamily || type.IsNestedFamORAssem ? "protected " : "public ");
        text.Append(Kind(type)).Append(' ').Append(Name(type));

        var bases = new List<string>();
        if (type.IsEnum)
        {
            bases.Add(Name(type.GetEnumUnderlyingType()));
        }
        else
        {
            if (type.BaseType is { } parent && parent != typeof(object) && parent != typeof(ValueType))
            {
                bases.Add(Name(parent));
            }

            bases.AddRange(OwnInterfaces(type).Select(Name).Order(StringComparer.Ordinal));
        }

        if (bases.Count > 0)
        {
            text.Append(" : ").AppendJoin(", ", bases);
        }

        return text.Append(Constraints(type.GetGenericArguments())).ToString();
    }

    // An interface that the base type already has says nothing new.
    private static IEnumerable<Type> OwnInterfaces(Type type) =>
        type.GetInterfaces().Except(type.BaseType?.GetInterfaces() ?? []).Where(i => i.IsVisible);

    private static string Kind(Type type)
    {
        if (type.IsEnum)
        {
            return "enum";
        }

        if (type.IsInterface)
        {
            return "interface";
        }

        var record = type.GetMethod("PrintMembers", Declared) is { } print && IsGenerated(print) ? "record " : "";
        if (type.IsValueType)
        {
            var readOnly = type.IsDefined(typeof(IsReadOnlyAttribute)) ? "readonly " : "";
            return $"{readOnly}{(type.IsByRefLike ? "ref " : "")}{record}struct";
        }

        var modifier = (type.IsAbstract, type.IsSealed) switch
        {
            (true, true) => "static ",
            (true, false) => "abstract ",
            (false, true) => "sealed ",
            _ => "",
        };
        return $"{modifier}{(record.Length > 0 ? "record" : "class")}";
    }

    private static IEnumerable<string> DescribeMembers(Type type)
    {
        if (type.IsSubclassOf(typeof(Delegate)))
        {
            yield break;
        }

        foreach (var field in type.GetFields(Declared).Where(f => IsVisible(f) && !f.IsSpecialName))
        {
            yield return DescribeField(field);
        }

        foreach (var constructor in type.GetConstructors(Declared).Where(c => IsVisible(c) && !c.IsStatic))
        {
            yield return $"{Access(constructor)}{Name(type).Split('<')[0].Split('.')[^1]}({Parameters(constructor)})";
        }

        foreach (var property in type.GetProperties(Declared))
        {
            if (property.GetAccessors(nonPublic: true).Any(IsVisible))
            {
                yield return DescribeProperty(property);
            }
        }

        foreach (var @event in type.GetEvents(Declared).Where(e => IsVisible(e.AddMethod!)))
        {
            yield return $"{Access(@event.AddMethod!)}{Modifiers(@event.AddMethod!)}event {Name(@event.EventHandlerType!)} {@event.Name}";
        }

        foreach (var method in type.GetMethods(Declared).Where(m => IsVisible(m) && !IsGenerated(m) && !IsAccessor(m)))
        {
            yield return $"{Access(method)}{Modifiers(method)}{Return(method)} {method.Name}{TypeParameters(method)}"
                + $"({Parameters(method)}){Constraints(method.GetGenericArguments())}{Obsolete(method)}";
        }
    }

    private static string DescribeField(FieldInfo field)
    {
        if (field.DeclaringType!.IsEnum)
        {
            return $"{field.Name} = {Convert.ToString(field.GetRawConstantValue(), CultureInfo.InvariantCulture)}";
        }

        var access = field.IsPublic ? "public " : "protected ";
        var type = Annotated(field.FieldType, new NullabilityInfoContext().Create(field));
        if (field.IsLiteral)
        {
            return $"{access}const {type} {field.Name} = {Literal(field.GetRawConstantValue())}";
        }

        return $"{access}{(field.IsStatic ? "static " : "")}{(field.IsInitOnly ? "readonly " : "")}{type} {field.Name}";
    }

    private static string DescribeProperty(PropertyInfo property)
    {
        var accessor = property.GetAccessors(nonPublic: true).First(IsVisible);
        var required = property.IsDefined(typeof(RequiredMemberAttribute)) ? "required " : "";
        var type = ByReference(property.PropertyType, property.IsDefined(typeof(IsReadOnlyAttribute)))
            + Annotated(property.PropertyType, new NullabilityInfoContext().Create(property));
        var name = property.GetIndexParameters() is { Length: > 0 } index ? $"this[{string.Join(", ", index.Select(Parameter))}]" : property.Name;

        var accessors = new StringBuilder();
        if (property.GetMethod is { } get && IsVisible(get))
        {
            accessors.Append("get; ");
        }

        if (property.SetMethod is { } set && IsVisible(set))
        {
            var isInit = set.ReturnParameter.GetRequiredCustomModifiers().Contains(typeof(IsExternalInit));
            accessors.Append(set.IsPublic || !accessor.IsPublic ? "" : "protected ").Append(isInit ? "init; " : "set; ");
        }

        return $"{Access(accessor)}{Modifiers(accessor)}{required}{type} {name} {{ {accessors}}}{Obsolete(property)}";
    }

    private static string Access(MethodBase method) => method.IsPublic ? "public " : "protected ";

    private static string Modifiers(MethodInfo method)
    {
        var readOnly = method.DeclaringType!.IsValueType && method.IsDefined(typeof(IsReadOnlyAttribute))
            && !method.DeclaringType.IsDefined(typeof(IsReadOnlyAttribute)) ? "readonly " : "";
        if (method.IsStatic)
        {
            return method.IsAbstract ? "static abstract " : "static ";
        }

        if (method.DeclaringType.IsInterface)
        {
            return method.IsAbstract ? "" : "virtual ";
        }

        if (method.GetBaseDefinition() != method)
        {
            return method.IsFinal ? "sealed override " : "override ";
        }

        if (method.IsAbstract)
        {
            return "abstract ";
        }

        return method.IsVirtual && !method.IsFinal ? "virtual " : readOnly;
    }

    private static string Return(MethodInfo method)
    {
        var parameter = method.ReturnParameter;
        return ByReference(parameter.ParameterType, parameter.IsDefined(typeof(IsReadOnlyAttribute)))
            + Annotated(parameter.ParameterType, new NullabilityInfoContext().Create(parameter));
    }

    private static string Parameters(MethodBase method)
    {
        var text = string.Join(", ", method.GetParameters().Select(Parameter));
        return method.IsDefined(typeof(ExtensionAttribute)) ? "this " + text : text;
    }

    private static string Parameter(ParameterInfo parameter)
    {
        var text = new StringBuilder();
        if (parameter.GetCustomAttribute<NotNullWhenAttribute>() is { } notNull)
        {
            text.Append("[NotNullWhen(").Append(Literal(notNull.ReturnValue)).Append(")] ");
        }

        if (parameter.IsDefined(typeof(ParamArrayAttribute)) || parameter.IsDefined(typeof(ParamCollectionAttribute)))
        {
            text.Append("params ");
        }

        if (parameter.ParameterType.IsByRef)
        {
            text.Append((parameter.IsOut, parameter.IsIn) switch
            {
                (true, _) => "out ",
                (_, true) => "in ",
                _ => "ref ",
            });
        }

        text.Append(Annotated(parameter.ParameterType, new NullabilityInfoContext().Create(parameter)));
        text.Append(' ').Append(parameter.Name);
        if (parameter.HasDefaultValue)
        {
            text.Append(" = ").Append(Literal(parameter.RawDefaultValue));
        }

        return text.ToString();
    }

    private static string ByReference(Type type, bool isReadOnly) => type.IsByRef ? isReadOnly ? "ref readonly " : "ref " : "";

    private static string Literal(object? value) => value switch
    {
        null => "default",
        string text => $"\"{text}\"",
        bool flag => flag ? "true" : "false",
        _ => Convert.ToString(value, CultureInfo.InvariantCulture)!,
    };

    private static string Obsolete(MemberInfo member) =>
        member.GetCustomAttribute<ObsoleteAttribute>() is { } obsolete ? $" // obsolete: {obsolete.Message}" : "";

    // The type with the question marks that its declaration had.
    private static string Annotated(Type type, NullabilityInfo nullability)
    {
        if (type.IsByRef)
        {
            return Annotated(type.GetElementType()!, nullability); // It already describes the target.
        }

        if (Nullable.GetUnderlyingType(type) is { } underlying)
        {
            return Name(underlying) + "?";
        }

        // What a type parameter may be is said by its constraints.
        var mark = !type.IsValueType && !type.IsGenericParameter && nullability.ReadState == NullabilityState.Nullable ? "?" : "";
        if (type.IsArray && nullability.ElementType is { } element)
        {
            return $"{Annotated(type.GetElementType()!, element)}[{new string(',', type.GetArrayRank() - 1)}]{mark}";
        }

        if (type.IsConstructedGenericType && nullability.GenericTypeArguments.Length == type.GenericTypeArguments.Length)
        {
            var arguments = type.GenericTypeArguments.Zip(nullability.GenericTypeArguments, Annotated);
            return $"{Name(type).Split('<')[0]}<{string.Join(", ", arguments)}>{mark}";
        }

        return Name(type) + mark;
    }

    private static string Name(Type type)
    {
        if (Keywords.TryGetValue(type, out var keyword))
        {
            return keyword;
        }

        if (type.IsGenericParameter)
        {
            return type.Name;
        }

        if (type.IsByRef || type.IsPointer)
        {
            return Name(type.GetElementType()!) + (type.IsPointer ? "*" : "");
        }

        if (type.IsArray)
        {
            return $"{Name(type.GetElementType()!)}[{new string(',', type.GetArrayRank() - 1)}]";
        }

        if (Nullable.GetUnderlyingType(type) is { } underlying && !type.IsGenericTypeDefinition)
        {
            return Name(underlying) + "?";
        }

        var scope = type.DeclaringType is { } outer ? Name(outer) + "." : ShownNamespace(type);
        var name = type.Name.Split('`')[0];
        var own = type.GetGenericArguments().Skip(type.DeclaringType?.GetGenericArguments().Length ?? 0).ToList();
        return own.Count == 0 ? scope + name : $"{scope}{name}<{string.Join(", ", own.Select(Name))}>";
    }

    // Our own types keep their namespace, which is part of the promise; the framework's are known without.
    private static string ShownNamespace(Type type) =>
        type.Namespace?.StartsWith("Cairn", StringComparison.Ordinal) == true ? type.Namespace + "." : "";

    private static string TypeParameters(MethodInfo method) =>
        method.IsGenericMethod ? $"<{string.Join(", ", method.GetGenericArguments().Select(Name))}>" : "";

    private static string Constraints(Type[] arguments)
    {
        var text = new StringBuilder();
        foreach (var argument in arguments.Where(argument => argument.IsGenericParameter))
        {
            var attributes = argument.GenericParameterAttributes;
            var isStruct = attributes.HasFlag(GenericParameterAttributes.NotNullableValueTypeConstraint);
            var constraints = new List<string>();
            if (isStruct)
            {
                constraints.Add("struct");
            }

            if (attributes.HasFlag(GenericParameterAttributes.ReferenceTypeConstraint))
            {
                constraints.Add("class");
            }

            constraints.AddRange(argument.GetGenericParameterConstraints().Where(c => c != typeof(ValueType)).Select(Name));
            if (attributes.HasFlag(GenericParameterAttributes.DefaultConstructorConstraint) && !isStruct)
            {
                constraints.Add("new()");
            }

            if (attributes.HasFlag(GenericParameterAttributes.AllowByRefLike))
            {
                constraints.Add("allows ref struct");
            }

            if (constraints.Count > 0)
            {
                text.Append(" where ").Append(argument.Name).Append(" : ").AppendJoin(", ", constraints);
            }
        }

        return text.ToString();
    }

    private static bool IsVisible(MethodBase method) => method.IsPublic || method.IsFamily || method.IsFamilyOrAssembly;

    private static bool IsVisible(FieldInfo field) => field.IsPublic || field.IsFamily || field.IsFamilyOrAssembly;

    private static bool IsGenerated(MethodInfo method) => method.IsDefined(typeof(CompilerGeneratedAttribute));

    // Operators are special names too, but are called by users; the rest shows as its property or event.
    private static bool IsAccessor(MethodInfo method) =>
        method.IsSpecialName && !method.Name.StartsWith("op_", StringComparison.Ordinal);
}
