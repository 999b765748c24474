using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

namespace Cairn.Caching.Protobuf.Messages;

internal delegate TValue MemberGetter<TOwner, TValue>(ref TOwner owner);

internal delegate void MemberSetter<TOwner, TValue>(ref TOwner owner, TValue value);

/// <summary>Makes delegates that get and set a member: generated code, or reflection if code cannot be generated.</summary>
[RequiresUnreferencedCode("Members are found by looking at types at run time.")]
[RequiresDynamicCode("Members are read and set by code that is made at run time.")]
internal static class MemberAccess
{
    // A delegate with a target is called directly. A delegate of a static method runs through a thunk that shifts the arguments.
    private static readonly object s_target = new();

    public static MemberGetter<TOwner, TValue> Getter<TOwner, TValue>(MemberInfo member)
    {
        if (!RuntimeFeature.IsDynamicCodeSupported)
        {
            return (ref TOwner owner) => (TValue)(member is PropertyInfo property ? property.GetValue(owner) : ((FieldInfo)member).GetValue(owner))!;
        }

        var method = new DynamicMethod(
            $"get {member.Name}", typeof(TValue), [typeof(object), typeof(TOwner).MakeByRefType()], member.DeclaringType!.Module, skipVisibility: true);
        ILGenerator code = method.GetILGenerator();
        LoadOwner(code, typeof(TOwner));
        if (member is PropertyInfo { GetMethod: { } getter })
        {
            code.Emit(typeof(TOwner).IsValueType ? OpCodes.Call : OpCodes.Callvirt, getter);
        }
        else
        {
            code.Emit(OpCodes.Ldfld, FieldOf(member));
        }

        code.Emit(OpCodes.Ret);
        return method.CreateDelegate<MemberGetter<TOwner, TValue>>(s_target);
    }

    /// <summary>Returns null if the member cannot be set: a property without a setter and without a compiler-generated field.</summary>
    public static MemberSetter<TOwner, TValue>? Setter<TOwner, TValue>(MemberInfo member)
    {
        MethodInfo? setter = (member as PropertyInfo)?.SetMethod;
        if (setter is null && TryFieldOf(member) is null)
        {
            return null;
        }

        if (!RuntimeFeature.IsDynamicCodeSupported)
        {
            return (ref TOwner owner, TValue value) =>
            {
                object boxed = owner!;
                if (setter is not null)
                {
                    setter.Invoke(boxed, [value]);
                }
                else
                {
                    FieldOf(member).SetValue(boxed, value);
                }

                owner = (TOwner)boxed;
            };
        }

        var method = new DynamicMethod(
            $"set {member.Name}", typeof(void), [typeof(object), typeof(TOwner).MakeByRefType(), typeof(TValue)], member.DeclaringType!.Module, skipVisibility: true);
        ILGenerator code = method.GetILGenerator();
        LoadOwner(code, typeof(TOwner));
        code.Emit(OpCodes.Ldarg_2);
        if (setter is not null)
        {
            code.Emit(typeof(TOwner).IsValueType ? OpCodes.Call : OpCodes.Callvirt, setter);
        }
        else
        {
            code.Emit(OpCodes.Stfld, FieldOf(member));
        }

        code.Emit(OpCodes.Ret);
        return method.CreateDelegate<MemberSetter<TOwner, TValue>>(s_target);
    }

    private static void LoadOwner(ILGenerator code, Type owner)
    {
        code.Emit(OpCodes.Ldarg_1);
        if (!owner.IsValueType)
        {
            code.Emit(OpCodes.Ldind_Ref);
        }
    }

    private static FieldInfo FieldOf(MemberInfo member) => TryFieldOf(member)!;

    // Returns the compiler-generated field of a property. Records and get-only properties can be set only through it.
    private static FieldInfo? TryFieldOf(MemberInfo member) => member as FieldInfo
        ?? member.DeclaringType!.GetField($"<{member.Name}>k__BackingField", BindingFlags.Instance | BindingFlags.NonPublic);
}
